/* The command line. */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "say.h"

const char options_usage[] =
        "usage: notifyagent [--metrics | (--list | --check) [--json]]\n"
        "Posts the notifications that Apple's systems post by themselves, and starts units of the\n"
        "user's systemd when a name is posted that they wait for.\n"
        "\n"
        "    --list       print what is posted here, from what, and the units that posts start\n"
        "    --check      print what keeps it from working, and exit with 1 if something does\n"
        "    --json       after one of these: print JSON\n"
        "    --metrics    print the list in the OpenMetrics text format\n"
        "    --version    print the version\n"
        "    -h, --help   print this\n";

typedef struct option {
        const char *text;
        action action;
} option;

static const option all[] = {
        { "--list", ACTION_LIST },       { "--check", ACTION_CHECK },
        { "--metrics", ACTION_METRICS }, { "--version", ACTION_VERSION },
        { "-h", ACTION_HELP },           { "--help", ACTION_HELP },
};

static int parse(const char *argument, options *options)
{
        if (strcmp(argument, "--json") == 0) {
                options->is_json = true;
                return 0;
        }
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
                if (strcmp(argument, all[i].text) != 0)
                        continue;
                if (options->action != ACTION_RUN && options->action != all[i].action) {
                        say("%s does not go with another action", argument);
                        return -EINVAL;
                }
                options->action = all[i].action;
                return 0;
        }
        say("unknown argument %s; see notifyagent --help", argument);
        return -EINVAL;
}

int options_parse(int n_arguments, char **arguments, options *ret_options)
{
        options options = { .action = ACTION_RUN };
        int r = 0;

        for (int i = 1; i < n_arguments && r == 0; i++)
                r = parse(arguments[i], &options);
        if (r == 0 && options.is_json && options.action != ACTION_LIST &&
            options.action != ACTION_CHECK) {
                say("--json goes with --list or --check");
                r = -EINVAL;
        }
        if (r == 0)
                *ret_options = options;
        return r;
}
