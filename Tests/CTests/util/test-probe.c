/* The static probes: what the file says of them, and that a debugger can stop at them. */
#include <limits.h>
#include <unistd.h>

#include "roles.h"
#include "test-bus.h"
#include "test-child.h"

#if __has_include(<sys/sdt.h>)
#define SKIP_WITHOUT_PROBES()
#else
#define SKIP_WITHOUT_PROBES() SKIP("<sys/sdt.h> is not installed")
#endif

static char text[1 << 20];

static const char *own_program(void)
{
        static char path[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

        CHECK(n > 0);
        return path;
}

/* A process that observes, posts, and waits for its own handler. */
ROLE(hear)
{
        static tally seen = {0};

        (void)n_args;
        tally_observe(dn_center_darwin(), args[0], &seen);
        post_ok(dn_center_darwin(), args[0]);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        return 0;
}

TEST_NO_BUS(theFileListsEachProbeWithItsArguments)
{
        static const struct {
                const char *name;
                unsigned n_arguments;
        } probes[] = {{"post", 1}, {"ring", 3}, {"deliver_start", 3}, {"deliver_end", 1},
                      {"merged", 2}, {"moved", 2}};
        const char *argv[] = {"readelf", "-n", own_program(), NULL};

        SKIP_WITHOUT_PROBES();
        SKIP_IF(test_run_program(argv, text, sizeof text) != 0, "there is no readelf");
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
                const char *wanted = FORMAT("Provider: notify\n    Name: %s\n", probes[i].name);
                const char *found = strstr(text, wanted), *end;
                unsigned n = 0;

                CHECK(found);
                found = strstr(found, "Arguments: ");
                CHECK(found);
                end = strchr(found, '\n');
                for (; found && found < end; found = strchr(found + 1, '@'))
                        n++;
                CHECK_EQ(n - 1, probes[i].n_arguments);
        }
}

/* In the source tree above the program. */
static const char *printers(void)
{
        static char path[PATH_MAX + 64];
        char folder[PATH_MAX];

        snprintf(folder, sizeof folder, "%s", own_program());
        for (char *end; (end = strrchr(folder, '/'));) {
                *end = '\0';
                snprintf(path, sizeof path, "%s/Examples/tracing/printers.py", folder);
                if (access(path, R_OK) == 0)
                        return path;
        }
        SKIP("the program is not in the source tree");
}

#define PRINT_NAME "printf \"at %s\\n\", (char *)$_probe_arg0"

TEST(aDebuggerStopsAtProbesAndShowsWhatIsThere)
{
        test_bus_begin();
        const char *argv[] = {
                "gdb", "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex",
                FORMAT("source %s", printers()), "-ex", "break -probe-stap notify:post", "-ex",
                "break -probe-stap notify:deliver_start", "-ex",
                "break -probe-stap notify:deliver_end", "-ex", "run", "-ex", PRINT_NAME, "-ex",
                "continue", "-ex", PRINT_NAME, "-ex", "print *observer->queue", "-ex",
                "print *observer->queue->topic->hub", "-ex",
                "print *observer->queue->topic->hub->member.region", "-ex", "continue", "-ex",
                PRINT_NAME, "-ex", "kill", "--args", own_program(), "--role", "hear",
                "com.example.traced", NULL,
        };
        int n_stops = 0;

        SKIP_WITHOUT_PROBES();
        SKIP_IF(access("/usr/bin/gdb", X_OK) != 0, "gdb is not installed");
        test_run_program(argv, text, sizeof text);
        SKIP_IF(!strstr(text, "Breakpoint 1, "), "processes cannot be debugged here");
        for (char *at = text; (at = strstr(at, "at com.example.traced\n")); at++)
                n_stops++;
        CHECK_EQ(n_stops, 3);
        CHECK(strstr(text, "= queue of com.example.traced: 1 observers, 0 items, 0 runs"));
        CHECK(strstr(text, "= hub 1: table 0x"));
        CHECK(strstr(text, "com.example.traced: generation 2, state 0, 1 holders"));
}

TEST_MAIN()
