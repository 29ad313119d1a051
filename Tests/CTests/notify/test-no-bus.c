/* Tokens without a bus: before there is one and while it is gone. */
#include <unistd.h>

#include "notify-tally.h"
#include "roles.h"
#include "shm.h"
#include "test-bus.h"

static void check_self_names(void)
{
        static tally seen = {0};
        int token, checked;

        CHECK_EQ(dn_notify_register_callback("self.x", COUNTING(&seen), NULL, &token),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_check("self.x", &checked), NOTIFY_STATUS_OK);
        CHECK(is_changed(checked));
        CHECK_EQ(notify_post("self.x"), NOTIFY_STATUS_OK);
        CHECK(is_changed(checked));
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

/* Argument: what to call first, "post" or "register". There is no table either. */
ROLE(useWithoutBus)
{
        int token = 77;
        uint32_t status;

        forbid_tables();
        uint64_t before_us = test_now_us();
        if (strcmp(args[0], "post") == 0)
                status = notify_post("N");
        else
                status = notify_register_check("N", &token);
        CHECK(test_now_us() - before_us < TEST_STUCK_US);
        /* No table: nobody who could hear of the post has registered. */
        CHECK_EQ(status, strcmp(args[0], "post") == 0 ? NOTIFY_STATUS_OK
                                                      : NOTIFY_STATUS_SERVER_NOT_FOUND);

        before_us = test_now_us();
        unsigned n_fds = test_n_fds();
        check_no_kind_registers("N", NOTIFY_STATUS_SERVER_NOT_FOUND);
        WAIT_UNTIL(test_n_fds() <= n_fds); /* the table is tried again now and then */
        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_SERVER_NOT_FOUND);
        CHECK_EQ(notify_simple_post("N"), NOTIFY_STATUS_SERVER_NOT_FOUND);
        check_self_names();
        CHECK(test_now_us() - before_us < TEST_STUCK_US);
        return 0;
}

static void check_without_bus(void)
{
        CHECK_EQ(test_child_wait(test_spawn_role("useWithoutBus", "post", NULL)), 0);
        CHECK_EQ(test_child_wait(test_spawn_role("useWithoutBus", "register", NULL)), 0);
}

TEST_NO_BUS(unreachableAddressesAreReportedSoon)
{
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
        check_without_bus();
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        check_without_bus();
}

/* It accepts connections but never answers. */
TEST_NO_BUS(silentBusIsReportedSoon)
{
        int fd = use_silent_bus();

        check_without_bus();
        close(fd);
}

TEST_ON_BUS(tokensDeliverAgainAfterARestart)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0}, late = {0};
        int token, late_token, checked, late_checked;

        token = add_callback("N", &seen);
        checked = add_check("N");
        CHECK_EQ(notify_set_state(token, 42), NOTIFY_STATUS_OK);
        CHECK(is_changed(checked));
        test_bus_kill(bus);

        /* During the outage all calls succeed as usual, whether or not it was noticed. */
        for (uint64_t i = 1; i <= 3; i++) {
                CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
                CHECK(is_changed(checked));
                WAIT_UNTIL_EQ(seen.n_calls, i);
        }
        CHECK_EQ(dn_notify_register_callback("late", COUNTING(&late), NULL, &late_token),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_check("late", &late_checked), NOTIFY_STATUS_OK);
        CHECK(is_changed(late_checked));
        CHECK_EQ(get_state(checked), 42);

        test_bus_start_again(bus);
        test_peer *peer = test_peer_open(test_bus_address(bus));
        /* Posts of foreign programs made before the library has reconnected are lost. */
        WAIT_UNTIL((test_peer_post(peer, "N"), seen.n_calls > 3));
        WAIT_UNTIL((test_peer_post(peer, "late"), late.n_calls > 0));
        CHECK(is_changed(checked));
        CHECK(is_changed(late_checked));
        CHECK_EQ(get_state(checked), 42);
        post("N");
        CHECK(is_changed(checked));
}

TEST_MAIN()
