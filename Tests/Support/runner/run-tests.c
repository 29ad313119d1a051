/* The command line of the test runner.
 *
 *     run-tests [--broker daemon|broker|none]... [--jobs N] program...
 *
 * Runs every case of every program in its own process: once on each ground that it names, or once
 * if it names none. dbus-broker can differ only where a program talks to the bus, so
 * after dbus-daemon it gets only the programs that do so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "test.h"

#define MAX_BROKERS 3

typedef struct options {
        const char *brokers[MAX_BROKERS];
        size_t n_brokers;
        size_t n_jobs;
        int first_program; /* index in argv */
} options;

static void usage(void)
{
        fprintf(stderr,
                "usage: run-tests [--broker daemon|broker|none]... [--jobs N] program...\n");
        exit(2);
}

static options parse(int argc, char **argv)
{
        /* Twice, since most cases wait for others most of the time. */
        options o = {.n_jobs = 2 * (size_t)sysconf(_SC_NPROCESSORS_ONLN), .first_program = 1};

        while (o.first_program + 1 < argc && strncmp(argv[o.first_program], "--", 2) == 0) {
                const char *key = argv[o.first_program], *value = argv[o.first_program + 1];
                if (strcmp(key, "--broker") == 0 && o.n_brokers < MAX_BROKERS)
                        o.brokers[o.n_brokers++] = value;
                else if (strcmp(key, "--jobs") == 0 && atoi(value) > 0)
                        o.n_jobs = (size_t)atoi(value);
                else
                        usage();
                o.first_program += 2;
        }
        if (o.first_program >= argc)
                usage();
        if (o.n_brokers == 0) {
                o.brokers[o.n_brokers++] = "daemon";
                o.brokers[o.n_brokers++] = "none";
        }
        return o;
}

static unsigned ground_of(const char *broker)
{
        return strcmp(broker, "none") == 0 ? TEST_GROUND_NONE : TEST_GROUND_BROKERS;
}

static bool has_broker(const options *o, const char *broker)
{
        for (size_t i = 0; i < o->n_brokers; i++)
                if (strcmp(o->brokers[i], broker) == 0)
                        return true;
        return false;
}

/* Of deliberate faults, dbus-broker alone found some only in these folders. */
static bool is_worth_running(const options *o, const char *program, const char *broker)
{
        return strcmp(broker, "broker") != 0 || !has_broker(o, "daemon") ||
               strstr(program, "/tests/bus/") || strstr(program, "/tests/calls/") ||
               strstr(program, "/tests/inspect/") || strstr(program, "/agent-tests/");
}

/* Adds the cases of one program in the order it lists them; false if it cannot be run. */
static bool plan_program(run_plan *plan, const options *o, const char *program)
{
        char command[4096], line[512];
        FILE *list;

        snprintf(command, sizeof command, "'%s'", program);
        list = popen(command, "re");
        while (list && fgets(line, sizeof line, list)) {
                line[strcspn(line, "\n")] = '\0';
                char *space = strchr(line, ' ');
                unsigned grounds = space ? (unsigned)atoi(space) : 0;
                if (space)
                        *space = '\0';
                if (grounds == TEST_GROUND_ONCE)
                        run_plan_add(plan, program, line, NULL);
                for (size_t i = 0; i < o->n_brokers; i++)
                        if ((grounds & ground_of(o->brokers[i])) &&
                            is_worth_running(o, program, o->brokers[i]))
                                run_plan_add(plan, program, line, o->brokers[i]);
        }
        return list && pclose(list) == 0;
}

/* In memory, as the runtime directory of a user is, if there is such a place: a busy disk may keep
 * a file waiting for longer than a fork waits. Returns whether there is a directory. */
static bool make_directory(char *ret_path, size_t n_bytes)
{
        static const char *const parents[] = {"/dev/shm", "/tmp"};
        bool is_made = false;

        for (size_t i = 0; i < 2 && !is_made; i++) {
                snprintf(ret_path, n_bytes, "%s/dn-run-XXXXXX", parents[i]);
                is_made = mkdtemp(ret_path) != NULL;
        }
        return is_made;
}

int main(int argc, char **argv)
{
        options o = parse(argc, argv);
        char directory[64];
        run_plan plan = {0};
        run_totals totals = {0};

        setvbuf(stdout, NULL, _IOLBF, 0);
        test_directory_leave_shared();
        if (!make_directory(directory, sizeof directory) ||
            setenv("DN_TEST_DIRECTORY", directory, 1) < 0) {
                perror("mkdtemp");
                return 1;
        }
        for (int i = o.first_program; i < argc; i++)
                if (!plan_program(&plan, &o, argv[i])) {
                        printf("FAIL %s does not list its cases\n", argv[i]);
                        totals.n_failed++;
                }
        run_all(&plan, o.n_jobs, &totals);
        run_print_slow(&plan);
        test_remove_tree(directory);
        if (access(directory, F_OK) == 0) {
                printf("FAIL %s cannot be removed\n", directory);
                totals.n_failed++;
        }
        free(plan.jobs);
        printf("%zu passed, %zu failed, %zu skipped\n", totals.n_passed, totals.n_failed,
               totals.n_skipped);
        return totals.n_failed > 0 || totals.n_passed == 0;
}
