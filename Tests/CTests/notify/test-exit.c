/* Posts of a process that exits at once. */
#include <unistd.h>

#include "notify-tally.h"
#include "roles.h"

#define N_PROCESSES (TEST_HAS_SANITIZER ? 10 : 50)
#define N_LISTENERS (TEST_HAS_THREAD_SANITIZER ? 10 : 50) /* it ends each after a second */
#define N_LAST_POSTS 100

/* Arguments: name, how to exit, and anything else to have a registration as well. */
ROLE(postOnce)
{
        int token;

        if (n_args > 2 && notify_register_check(args[0], &token) != NOTIFY_STATUS_OK)
                return 2;
        uint32_t status = notify_post(args[0]);
        if (strcmp(args[1], "_exit") == 0)
                _exit(status == NOTIFY_STATUS_OK ? 0 : 1);
        if (strcmp(args[1], "exit") == 0)
                exit(status == NOTIFY_STATUS_OK ? 0 : 1);
        return status == NOTIFY_STATUS_OK ? 0 : 1;
}

/* How long a process waits for its connection, and at its exit for the bus. */
#define PATIENCE_US 900000

static bool is_in_time(uint64_t before_us)
{
        return test_now_us() - before_us < PATIENCE_US;
}

/* Each is seen by the library and, if the process had its connection in time, by a program without
 * access to the table. */
static void check_each_post(const char *way_out, const char *registered)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally seen = {0};
        test_signal signal;

        test_peer_watch(peer, TEST_WIRE_RULE);
        add_callback("N", &seen);
        int checked = add_check("N");
        (void)is_changed(checked);
        for (unsigned i = 1; i <= N_PROCESSES; i++) {
                uint64_t before_us = test_now_us();
                test_child *child = test_spawn_role("postOnce", "N", way_out, registered, NULL);
                CHECK_EQ(test_child_wait(child), 0);
                bool was_in_time = is_in_time(before_us);
                CHECK(is_changed(checked));
                if (test_peer_is_on_bus(peer) && was_in_time) {
                        test_peer_next(peer, &signal);
                        CHECK_STREQ(signal.name, "N");
                }
                WAIT_UNTIL_EQ(seen.n_calls, i);
        }
        fence_bus(peer);
        CHECK_EQ(seen.n_calls, N_PROCESSES);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST(postThenEndWithoutCleanupIsDelivered)
{
        check_each_post("_exit", NULL);
}

TEST(postThenReturnFromMainIsDelivered)
{
        check_each_post("return", "registered");
}

/* Arguments: name. Exits with messages from the bus unread. */
ROLE(listenPostTwice)
{
        int token;

        if (notify_register_check(args[0], &token) != NOTIFY_STATUS_OK)
                return 2;
        if (notify_post(args[0]) != NOTIFY_STATUS_OK || notify_post(args[0]) != NOTIFY_STATUS_OK)
                return 1;
        exit(0);
}

TEST_ON_BUS(everyPostOfAListenerThatExitsIsDelivered)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        char name[32];
        bool was_late = false; /* one whose signals may follow or not */
        test_signal signal;

        test_peer_watch(peer, TEST_WIRE_RULE);
        for (int i = 0; i < N_LISTENERS; i++) {
                uint64_t before_us = test_now_us();
                snprintf(name, sizeof name, "N.of.%d", i);
                CHECK_EQ(test_child_wait(test_spawn_role("listenPostTwice", name, NULL)), 0);
                bool was_in_time = is_in_time(before_us);
                for (int j = 0; j < 2 && was_in_time; j++) {
                        do
                                test_peer_next(peer, &signal);
                        while (was_late && strcmp(signal.name, name) != 0);
                        CHECK_STREQ(signal.name, name);
                }
                was_late = was_late || !was_in_time;
        }
}

static void stay(int token, void *context)
{
        (void)token;
        (void)context;
        printf("busy\n");
        for (;;)
                (void)pause();
}

/* Arguments: names, one that keeps it from reading and one that it posts and listens to. */
ROLE(leaveWithSomethingUnread)
{
        dn_executor executor = dn_executor_inline();
        dn_token_handler handler = {.invoke = stay};
        char line[8];
        int token;

        CHECK_EQ(dn_notify_register_callback(args[0], handler, &executor, &token),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_check(args[1], &token), NOTIFY_STATUS_OK);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        printf("ready\n");
        CHECK(fgets(line, sizeof line, stdin));
        for (int i = 0; i < N_LAST_POSTS; i++)
                CHECK_EQ(notify_post(args[1]), NOTIFY_STATUS_OK);
        printf("posted\n");
        exit(0);
}

/* A bus that writes to a process and finds it gone with unread data stops reading what the process
 * had sent. */
TEST_ON_BUS(exitWaitsUntilTheBusHasReadThePosts)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *child = test_spawn_role("leaveWithSomethingUnread", "block", "last", NULL);
        test_signal signal;

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
        if (test_now_us() - before_us > PATIENCE_US)
                SKIP("the machine stood still");
        for (int i = 0; i < N_LAST_POSTS; i++) {
                test_peer_next(peer, &signal);
                CHECK_STREQ(signal.name, "last");
        }
        CHECK_EQ(test_child_wait(child), 0);
}

TEST_MAIN()
