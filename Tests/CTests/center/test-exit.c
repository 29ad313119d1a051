/* Callbacks and posts of a process that exits. */
#include <stdlib.h>
#include <unistd.h>

#include "executors.h"
#include "roles.h"
#include "tally.h"

#define NAME "self.x"

static tally seen;
static _Atomic bool is_exiting, has_returned;
static uint64_t began_us; /* to exit */

/* --- handlers that have not started ----------------------------------------------------------- */

/* The host still runs queued work after the library has ended its deliveries, but gets no more. */
static void run_what_waits(void)
{
        run_kept_work();
        if (seen.n_calls > 0)
                _exit(1);
        post_ok(dn_center_darwin(), NAME);
        if (is_kept)
                _exit(2);
}

ROLE(exitWhilePostsWait)
{
        dn_executor executor = { .enqueue = keep_work };

        CHECK_EQ(atexit(run_what_waits), 0); /* runs after the library's */
        tally_observe_on(dn_center_darwin(), NAME, &seen, &executor);
        post_ok(dn_center_darwin(), NAME);
        return is_kept ? 0 : 3;
}

TEST_NO_BUS(noHandlerStartsAfterExitHasBegun)
{
        CHECK_EQ(test_child_wait(test_spawn_role("exitWhilePostsWait", NULL)), 0);
}

/* --- handlers that are running ---------------------------------------------------------------- */

static void note_exit(void)
{
        began_us = test_now_us();
        is_exiting = true;
}

static void check_return(void)
{
        if (!has_returned)
                _exit(is_late(began_us) ? EXITED_LATE : 1);
}

static void return_late(const dn_event *event, void *context)
{
        tally_invoke(event, context);
        WAIT_UNTIL(is_exiting);
        test_let_pass_ms(50);
        has_returned = true;
}

static void exit_inside(const dn_event *event, void *context)
{
        exit(0);
}

static void never_return(const dn_event *event, void *context)
{
        tally_invoke(event, context);
        for (;;)
                pause();
}

/* Argument: what the handler does. */
ROLE(exitWhileAHandlerRuns)
{
        bool returns_late = strcmp(args[0], "late") == 0;
        bool is_inside = strcmp(args[0], "inside") == 0;
        dn_handler handler = { .invoke = returns_late ? return_late
                               : is_inside ? exit_inside
                                           : never_return, .context = &seen };

        if (returns_late)
                CHECK_EQ(atexit(check_return), 0);
        observe_ok(dn_center_darwin(), NAME, &handler, NULL);
        CHECK_EQ(atexit(note_exit), 0); /* runs before the library's */
        post_ok(dn_center_darwin(), NAME);
        WAIT_UNTIL(seen.n_calls > 0);
        return 0;
}

TEST_NO_BUS(exitWaitsForAHandlerThatRunsButNotForEver)
{
        static const char *const handlers[] = {"late", "inside", "never"};

        for (int i = 0; i < 3; i++) {
                int status;

                WAIT_UNTIL((status = test_child_wait(test_spawn_role("exitWhileAHandlerRuns",
                                                                     handlers[i], NULL))) !=
                           EXITED_LATE);
                CHECK_EQ(status, 0);
        }
}

/* --- posts that the bus has not read ---------------------------------------------------------- */

#define N_LAST_POSTS 100

/* How long a process waits at its exit for the bus. */
#define PATIENCE_US 900000

static void stay(const dn_event *event, void *context)
{
        printf("busy\n");
        for (;;)
                (void)pause();
}

/* "block" keeps it from reading; it posts and observes "last". */
ROLE(leaveWithSomethingUnread)
{
        const dn_executor *executor = dn_executor_inline();
        char line[8];

        observe_ok(dn_center_darwin(), "block", &(dn_handler){.invoke = stay}, executor);
        tally_observe(dn_center_darwin(), "last", &seen);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        printf("ready\n");
        CHECK(fgets(line, sizeof line, stdin));
        for (int i = 0; i < N_LAST_POSTS; i++)
                post_ok(dn_center_darwin(), "last");
        printf("posted\n");
        exit(0);
}

/* A bus that writes to a process and finds it gone with unread data stops reading what the process
 * had sent. */
TEST_ON_BUS(exitWaitsUntilTheBusHasReadThePosts)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *child = test_spawn_role("leaveWithSomethingUnread", NULL);

        CHECK_STREQ(test_child_read_line(child), "ready");
        test_peer_post(peer, "block");
        CHECK_STREQ(test_child_read_line(child), "busy");
        test_peer_post(peer, "block");
        test_peer_sync(peer);
        test_peer_watch(peer, TEST_WIRE_RULE);
        test_bus_pause(bus);
        uint64_t before_us = test_now_us();
        CHECK_STREQ(test_child_ask(child, "leave"), "posted");
        test_let_pass_ms(200); /* otherwise it would have exited by now */
        test_bus_resume(bus);
        SKIP_IF(test_now_us() - before_us > PATIENCE_US, "the machine stood still");
        for (int i = 0; i < N_LAST_POSTS; i++) {
                test_peer_expect(peer, "last");
        }
        CHECK_EQ(test_child_wait(child), 0);
}

TEST_MAIN()
