/* Works without a bus, then with one once it appears. */
#include <stdlib.h>
#include <unistd.h>

#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static int timed_post(void)
{
        uint64_t before_us = test_now_us();
        int r = dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0);

        CHECK(test_now_us() - before_us < TEST_STUCK_US);
        return r;
}

/* Uses everything; prints the two results. Any output of the library on stderr appears too.
 * Argument: "table", or else there is none. */
ROLE(useWithoutBus)
{
        if (strcmp(args[0], "table") != 0)
                forbid_tables();
        dn_observer *observer = NULL;
        static tally own = {0}, local = {0};

        dup2(STDOUT_FILENO, STDERR_FILENO);
        uint64_t before_us = test_now_us();
        int observed =
                dn_center_observe(dn_center_darwin(), "N", TALLY_HANDLER(&own), NULL, &observer);
        CHECK(test_now_us() - before_us < TEST_STUCK_US);
        CHECK(observer);
        int posted = timed_post();
        WAIT_UNTIL_EQ(own.n_posts, 1);
        tally_observe(dn_center_local(), "L", &local);
        post_ok(dn_center_local(), "L");
        CHECK_EQ(local.n_calls, 1);
        tally_drop(observer);
        printf("%d %d\n", observed, posted);
        return 0;
}

static void check_use(const char *table, int result)
{
        test_child *child = test_spawn_role("useWithoutBus", table, NULL);

        CHECK_STREQ(test_child_read_line(child), FORMAT("%d %d", result, result));
        CHECK(!test_child_read_line_or_end(child));
        CHECK_EQ(test_child_wait(child), 0);
}

/* Only a process that cannot reach anybody at all reports it. */
static void check_offline(void)
{
        check_use("no table", DN_NOT_CONNECTED);
        check_use("table", 0);
}

TEST_NO_BUS(worksWithNothingSet)
{
        test_bus_use_nothing();
        check_offline();
}

TEST_NO_BUS(worksWithAddressesThatLeadNowhere)
{
        static const char *const addresses[] = {"disabled:", "garbage",
                                                "unix:path=/nonexistent/bus", "autolaunch:",
                                                "tcp:host=256.0.0.1,port=99999"};

        for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
                setenv("DBUS_SESSION_BUS_ADDRESS", addresses[i], 1);
                check_offline();
        }
        unsetenv("DBUS_SESSION_BUS_ADDRESS"); /* a runtime directory without a bus */
        check_offline();
}

TEST_ON_BUS(worksWithAStaleSocket)
{
        test_bus *bus = test_bus_begin();

        test_bus_kill(bus);
        CHECK_EQ(access(test_bus_path(bus), F_OK), 0);
        check_offline();
}

TEST_ON_BUS(noneDoesNotConnectToTheBus)
{
        test_peer *peer = test_peer_begin();

        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        check_offline();
        test_peer_post(peer, "end");
        test_peer_expect(peer, "end");
}

/* A bus that accepts connections but never answers. */
TEST_NO_BUS(silentBusDelaysNobody)
{
        int fd = use_silent_bus();
        uint64_t before_us = test_now_us();

        check_offline();
        CHECK(test_now_us() - before_us < 6 * TEST_STUCK_US);
        close(fd);
}

TEST_ON_BUS(reconnectsWhenTheBusAppears)
{
        test_bus *bus = test_bus_prepare(NULL);
        static tally seen = {0};

        test_bus_use(bus);
        tally_observe(dn_center_darwin(), "N", &seen);
        CHECK_EQ(timed_post(), 0);
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        test_child *child = spawn_observer("N", NULL);
        CHECK_EQ(timed_post(), 0);
        WAIT_UNTIL_EQ(child_posts(child, 0), 1);
        WAIT_UNTIL_EQ(seen.n_posts, 2);
        CHECK_EQ(dn_center_is_on_bus(dn_center_darwin()), 0);

        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(dn_center_is_on_bus(dn_center_darwin()), 1);
        test_peer *peer = test_peer_open(test_bus_address(bus));
        uint64_t n_posts = seen.n_posts;
        CHECK_EQ(n_posts, 2);
        WAIT_UNTIL((test_peer_post(peer, "N"), seen.n_posts > n_posts));
        CHECK_EQ(timed_post(), 0);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
}

TEST_MAIN()
