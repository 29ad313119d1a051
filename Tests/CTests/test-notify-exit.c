/* Posts of a process that ends at once. */
#include <darwinnotify/token.h>
#include <notify.h>
#include <stdlib.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define N_PROCESSES (TEST_HAS_SANITIZER ? 50 : 200)

/* Arguments: name, the way out, and, for one that has a registration as well, anything. */
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

static void count_call(int token, void *context)
{
        (void)token;
        ((tally *)context)->n_calls++;
}

/* Each is seen by the library, and by a program that has no table to look at. */
static void check_each_post(const char *way_out, const char *registered)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally seen = {0};
        dn_token_handler handler = {.invoke = count_call, .context = &seen};
        test_signal signal;
        int token, checked, changed;

        test_peer_watch(peer, TEST_WIRE_RULE);
        CHECK_EQ(dn_notify_register_callback("N", handler, NULL, &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_check("N", &checked), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_check(checked, &changed), NOTIFY_STATUS_OK);
        for (unsigned i = 1; i <= N_PROCESSES; i++) {
                test_child *child = test_spawn_role("postOnce", "N", way_out, registered, NULL);
                CHECK_EQ(test_child_wait(child), 0);
                CHECK_EQ(notify_check(checked, &changed), NOTIFY_STATUS_OK);
                CHECK_EQ(changed, 1);
                test_peer_next(peer, &signal);
                CHECK_STREQ(signal.name, "N");
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

TEST(postThenEndWithoutCleanupOfAListenerIsDelivered)
{
        check_each_post("_exit", "registered");
}

TEST(postThenExitIsDelivered)
{
        check_each_post("exit", NULL);
}

TEST(postThenReturnFromMainIsDelivered)
{
        check_each_post("return", "registered");
}

TEST_MAIN()
