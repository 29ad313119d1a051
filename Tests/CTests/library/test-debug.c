/* What the library reports about itself: its version, and what happens in it, on standard error
 * with DARWIN_NOTIFY_DEBUG=1 or to the host. */
#include <darwinnotify/library.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#if DN_VERSION < DN_VERSION_NUMBER(1, 0, 0) || DN_VERSION >= DN_VERSION_NUMBER(2, 0, 0)
#error "the version cannot be compared at compile time"
#endif

_Static_assert(DN_VERSION_NUMBER(1, 2, 0) > DN_VERSION_NUMBER(1, 1, 999), "minor before patch");
_Static_assert(DN_VERSION_NUMBER(2, 0, 0) > DN_VERSION_NUMBER(1, 999, 0), "major before minor");

static void print_for_host(const char *message, void *context)
{
        printf("%s: %s\n", (const char *)context, message);
}

/* Its standard error is its standard output. It observes "N" and posts, then does what it reads;
 * before a shutdown it unsets the variable. It may have to do without tables, or take the reports
 * itself. */
ROLE(chatter)
{
        static const dn_diagnostics host = {.invoke = print_for_host, .context = "host"};
        static tally seen = {0};
        static dn_observer *observer;
        char line[64];

        CHECK(dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO);
        if (n_args > 0 && strcmp(args[0], "as-host") == 0)
                CHECK_EQ(dn_set_diagnostics(&host), 0);
        else if (n_args > 0)
                forbid_tables();
        observer = tally_observe_soon(dn_center_darwin(), "N", &seen);
        post_soon(dn_center_darwin(), "N");
        for (;;) {
                printf("done\n");
                fflush(stdout);
                if (!fgets(line, sizeof line, stdin))
                        return 0;
                if (strncmp(line, "shutdown", 8) == 0) {
                        CHECK_EQ(unsetenv("DARWIN_NOTIFY_DEBUG"), 0);
                        CHECK_EQ(dn_shutdown(), 0);
                        observer = dn_observer_unref(observer);
                } else
                        post_soon(dn_center_darwin(), "N");
        }
}

/* The next line that has all of these texts. */
static const char *await_line(test_child *child, const char *text, const char *also)
{
        const char *line;

        do {
                line = test_child_read_line(child);
                CHECK(line);
        } while (!strstr(line, text) || !strstr(line, also));
        return line;
}

TEST(nothingIsWrittenUnlessAskedFor)
{
        test_bus_begin();
        static const char *const values[] = {NULL, "", "0", "yes"};

        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                test_child *child;

                if (values[i])
                        setenv("DARWIN_NOTIFY_DEBUG", values[i], 1);
                child = test_child_await(test_spawn_role("chatter", NULL), "done");
                for (int n = 0; n < 3; n++)
                        CHECK_STREQ(test_child_ask(child, "post"), "done");
                CHECK_EQ(test_child_wait(child), 0);
        }
}

TEST_ON_BUS(busThatIsFoundAndLostIsReported)
{
        test_bus *bus = test_bus_begin();
        const char *address = test_bus_address(bus);

        setenv("DARWIN_NOTIFY_DEBUG", "1", 1);
        test_child *child = test_spawn_role("chatter", NULL);
        const char *prefix = FORMAT("libdarwinnotify: %s[%d]: ", program_invocation_short_name,
                                    (int)test_child_pid(child));
        CHECK(strstr(await_line(child, "looking for the bus ", address), prefix));
        for (bool is_found = false, is_shared = false; !is_found || !is_shared;) {
                const char *line = test_child_read_line(child);

                CHECK(line);
                is_found = is_found || (strstr(line, "darwin center: found the bus ") &&
                                        strstr(line, " as :"));
                is_shared = is_shared || strstr(line, "sharing the table ");
        }
        test_bus_kill(bus);
        await_line(child, "darwin center: lost the bus ", address);
        await_line(child, "darwin center: cannot reach the bus ", ": Connection refused");
        test_bus_start_again(bus);
        await_line(child, "darwin center: found the bus ", address);
}

TEST_NO_BUS(missingTableIsReportedOnceWithItsReason)
{
        test_child *child;

        test_bus_use_none();
        setenv("DARWIN_NOTIFY_DEBUG", "1", 1);
        child = test_spawn_role("chatter", "without-table", NULL);
        await_line(child, "no bus to look for (none)", "");
        await_line(child, "cannot open the shared table for none; ", ": File too large");
        CHECK_STREQ(test_child_read_line(child), "done");
        for (int n = 0; n < 3; n++)
                CHECK_STREQ(test_child_ask(child, "post"), "done");
}

/* --- Each report once ------------------------------------------------------------------------- */

/* Its standard error is its standard output. Posts "N" for each line that it reads. */
ROLE(repeater)
{
        char line[64];

        CHECK(dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO);
        do {
                (void)dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0);
                printf("done\n");
                fflush(stdout);
        } while (fgets(line, sizeof line, stdin));
        return 0;
}

static void check_silent_posts(test_child *child)
{
        for (int n = 0; n < 3; n++)
                CHECK_STREQ(test_child_ask(child, "post"), "done");
}

TEST_NO_BUS(aPosterWithoutATableSaysSoOnce)
{
        test_child *child;

        test_bus_use_none();
        setenv("DARWIN_NOTIFY_DEBUG", "1", 1);
        child = test_spawn_role("repeater", NULL);
        await_line(child, "no bus to look for (none)", "");
        await_line(child, "found no shared table for none; ", "");
        CHECK_STREQ(test_child_read_line(child), "done");
        check_silent_posts(child);
        AUTO_REGION *region = enter_table("none");
        test_child_write_line(child, "post");
        await_line(child, "sharing the table ", region->file.path);
        CHECK_STREQ(test_child_read_line(child), "done");
        check_silent_posts(child);
        CHECK_EQ(test_child_wait(child), 0);
}

TEST_NO_BUS(anInvalidBusIsReportedOnce)
{
        test_child *child;

        setenv("DARWIN_NOTIFY_BUS", "sesion", 1);
        setenv("DARWIN_NOTIFY_DEBUG", "1", 1);
        child = test_spawn_role("repeater", NULL);
        await_line(child, "\"sesion\" is neither session, ", "");
        CHECK_STREQ(test_child_read_line(child), "done");
        check_silent_posts(child);
        CHECK_EQ(test_child_wait(child), 0);
}

static _Atomic bool refuses_connections;
static _Atomic unsigned n_refused, n_reported;

/* Instead of that of the C library, also for libsystemd. */
__attribute__((visibility("default"))) int connect(int fd, const struct sockaddr *address,
                                                   socklen_t n_bytes)
{
        if (!refuses_connections)
                return (int)syscall(SYS_connect, fd, address, n_bytes);
        n_refused++;
        errno = ECONNREFUSED;
        return -1;
}

static void count_report(const char *message, void *context)
{
        n_reported += strstr(message, "cannot reach the bus ") != NULL;
}

TEST_NO_BUS(diagnosticsNeedAFunctionAndNothingThatIsReserved)
{
        static const dn_diagnostics without = {.context = "host"};
        static const dn_diagnostics later = {.invoke = count_report, .reserved = {1}};

        CHECK_EQ(dn_set_diagnostics(&without), -EINVAL);
        CHECK_EQ(dn_set_diagnostics(&later), -EINVAL);
        CHECK_EQ(dn_set_diagnostics(NULL), 0);
}

TEST_ON_BUS(aBusThatCannotBeReachedIsReportedOnce)
{
        static const dn_diagnostics diagnostics = {.invoke = count_report};
        test_bus *bus = test_bus_begin();

        CHECK_EQ(dn_set_diagnostics(&diagnostics), 0);
        for (unsigned n = 1; n <= 2; n++) {
                refuses_connections = true;
                (void)dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0);
                WAIT_UNTIL(n_refused >= 3);
                CHECK_EQ(n_reported, n);
                refuses_connections = false;
                WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()) == 1);
                n_refused = 0;
                refuses_connections = true;
                test_bus_kill(bus);
                test_bus_start_again(bus);
        }
        CHECK_EQ(dn_shutdown(), 0);
}

/* Arguments: names. Its standard error is its standard output. */
ROLE(observeLoudly)
{
        static tally seen[8];

        CHECK(dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO);
        for (int i = 0; i < n_args; i++)
                (void)dn_center_observe(dn_center_darwin(), args[i], TALLY_HANDLER(&seen[i]), NULL,
                                        NULL);
        printf("done\n");
        return 0;
}

TEST_NO_BUS(namesWithoutRoomInTheTableAreReportedOnce)
{
        char first[64], second[64], third[64];
        test_child *child;

        test_bus_use_none();
        AUTO_REGION *region = enter_table("none");
        (void)fill_set_of(region, "x");
        name_in_set_of("x", DN__SHM_SLOTS_PER_SET, first);
        name_in_set_of("x", DN__SHM_SLOTS_PER_SET + 1, second);
        name_in_set_of("x", DN__SHM_SLOTS_PER_SET + 2, third);
        setenv("DARWIN_NOTIFY_DEBUG", "1", 1);
        child = test_spawn_role("observeLoudly", first, second, third, NULL);
        await_line(child, "sharing the table ", "");
        await_line(child, "no room in the table for ", first);
        CHECK_STREQ(test_child_read_line(child), "done");
        CHECK_EQ(test_child_wait(child), 0);
}

/* --- A report that waits ---------------------------------------------------------------------- */

static _Atomic bool is_waiting, may_return;

/* As a pipe that nobody reads. */
static void wait_with_report(const char *message, void *context)
{
        if (!strstr(message, context))
                return;
        is_waiting = true;
        WAIT_UNTIL(may_return);
}

static void *observe(void *name)
{
        static tally seen[2];
        static _Atomic unsigned n;

        (void)dn_center_observe(dn_center_darwin(), name, TALLY_HANDLER(&seen[n++]), NULL, NULL);
        return NULL;
}

static void *post(void *name)
{
        (void)dn_center_post(dn_center_darwin(), name, NULL, NULL, 0);
        return NULL;
}

/* One thread registers a name and waits with its report; another one does not wait for it. */
static void check_no_wait(const char *report, char *name, void *(*act)(void *name))
{
        dn_diagnostics diagnostics = {.invoke = wait_with_report, .context = (void *)report};
        pthread_t first, second;

        CHECK_EQ(dn_set_diagnostics(&diagnostics), 0);
        first = test_start_thread(observe, name);
        WAIT_UNTIL(is_waiting);
        second = test_start_thread(act, name);
        WAIT_UNTIL_EQ(pthread_tryjoin_np(second, NULL), 0);
        may_return = true;
        CHECK_EQ(pthread_join(first, NULL), 0);
        CHECK_EQ(dn_set_diagnostics(NULL), 0);
}

TEST_NO_BUS(aPostDoesNotWaitForAReportOfAnotherThread)
{
        test_bus_use_none();
        check_no_wait("sharing the table ", "N", post);
}

TEST_NO_BUS(aRegistrationDoesNotWaitForAReportOfAnotherThread)
{
        char name[64];

        test_bus_use_none();
        AUTO_REGION *region = enter_table("none");
        (void)fill_set_of(region, "x");
        name_in_set_of("x", DN__SHM_SLOTS_PER_SET, name);
        check_no_wait("no room in the table for ", name, observe);
}

/* --- The host --------------------------------------------------------------------------------- */

TEST_NO_BUS(hostTakesTheReportsUntilAShutdown)
{
        static const char *const values[] = {"0", "1"};

        test_bus_use_none();
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                test_child *child;

                setenv("DARWIN_NOTIFY_DEBUG", values[i], 1);
                child = test_spawn_role("chatter", "as-host", NULL);
                CHECK(strstr(test_child_read_line(child), "host: no bus to look for (none)"));
                CHECK(strstr(test_child_read_line(child), "host: sharing the table "));
                CHECK_STREQ(test_child_read_line(child), "done");
                CHECK_STREQ(test_child_ask(child, "shutdown"), "done");
                CHECK_STREQ(test_child_ask(child, "post"), "done");
                CHECK_EQ(test_child_wait(child), 0);
        }
}

TEST_NO_BUS(libraryReturnsTheVersionOfItsHeaders)
{
        const char *expected = FORMAT("%d.%d.%d", DN_VERSION_MAJOR, DN_VERSION_MINOR,
                                      DN_VERSION_PATCH);

        CHECK_STREQ(dn_version(), expected);
        CHECK_STREQ(DN_VERSION_STRING, expected);
}

TEST_MAIN()
