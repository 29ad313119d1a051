/* Posts while the bus stands still, is dead, comes back or was never there. */
#include <signal.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

/* Arguments: name, how to end. Posts once and is gone, without a look back. */
ROLE(postAndLeave)
{
        int r = dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0);

        if (r < 0)
                return 1;
        if (strcmp(args[1], "_exit") == 0)
                _exit(0);
        raise(SIGKILL);
        return 1;
}

/* Each by a process of its own, which then ends; the observer counts them exactly. */
static void check_posts_that_are_left(test_child *observer, uint64_t n_before)
{
        for (uint64_t i = 1; i <= 4; i++) {
                bool exits = i % 2;
                int status = exits ? 0 : 128 + SIGKILL;
                test_child *poster =
                        test_spawn_role("postAndLeave", "N", exits ? "_exit" : "kill", NULL);
                CHECK_EQ(test_child_wait(poster), status);
                WAIT_UNTIL_EQ(child_posts(observer, 0), n_before + i);
        }
}

/* Has this process post so often, and each post heard before the next. */
static void check_own_posts(test_child *observer, uint64_t n_before, uint64_t n)
{
        for (uint64_t i = 1; i <= n; i++) {
                post_soon(dn_center_darwin(), "N");
                WAIT_UNTIL_EQ(child_posts(observer, 0), n_before + i);
        }
}

/* Returns how many signals of the name the peer gets before that of a later post. */
static unsigned count_signals(test_peer *peer, const char *name)
{
        test_signal signal;
        unsigned n = 0;

        post_soon(dn_center_darwin(), "end");
        for (;;) {
                test_peer_next(peer, &signal);
                if (strcmp(signal.name, "end") == 0)
                        return n;
                n += strcmp(signal.name, name) == 0;
        }
}

TEST_ON_BUS(postsAreCountedOnceThoughTheBusStandsStill)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));

        test_peer_watch(peer, TEST_WIRE_RULE);
        test_child *observer = spawn_observer("N", NULL);
        post_ok(dn_center_darwin(), "connect");
        test_bus_pause(bus);
        check_posts_that_are_left(observer, 0);
        check_own_posts(observer, 4, 5);
        test_bus_resume(bus);
        /* The signals of a poster that still lives are seen, one for each post. */
        CHECK_EQ(count_signals(peer, "N"), 5);
        CHECK_EQ(child_posts(observer, 0), 9);
        CHECK_EQ(test_child_wait(observer), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_ON_BUS(postsAreCountedOnceThoughTheBusDiesAndComesBack)
{
        test_bus *bus = test_bus_begin();

        test_child *observer = spawn_observer("N", NULL);
        check_own_posts(observer, 0, 1);
        test_bus_kill(bus);
        check_posts_that_are_left(observer, 1);
        check_own_posts(observer, 5, 3);
        test_bus_start_again(bus);
        check_posts_that_are_left(observer, 8);
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_peer_watch(peer, TEST_WIRE_RULE);
        WAIT_UNTIL_EQ(dn_center_is_on_bus(dn_center_darwin()), 1);
        check_own_posts(observer, 12, 2);
        /* What waited for the bus may be among them, as one signal. */
        CHECK(count_signals(peer, "N") >= 2);
        CHECK_EQ(child_posts(observer, 0), 14);
        CHECK_EQ(test_child_wait(observer), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_ON_BUS(postsAreCountedOnceWhereTheBusCameLate)
{
        test_bus *bus = test_bus_prepare(NULL);

        test_bus_use(bus);
        test_child *observer = spawn_observer("N", NULL);
        check_posts_that_are_left(observer, 0);
        check_own_posts(observer, 4, 3);
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(dn_center_is_on_bus(dn_center_darwin()), 1);
        check_posts_that_are_left(observer, 7);
        check_own_posts(observer, 11, 3);
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_peer_watch(peer, TEST_WIRE_RULE);
        check_own_posts(observer, 14, 1);
        CHECK(count_signals(peer, "N") >= 1);
        CHECK_EQ(child_posts(observer, 0), 15);
        CHECK_EQ(test_child_wait(observer), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST(postsAreCountedOnceByObserversThatRegisterMeanwhile)
{
        test_bus *bus = test_bus_begin();

        for (uint64_t i = 0; i < 20; i++) {
                test_child *observer = spawn_observer("N", NULL);
                check_posts_that_are_left(observer, 0);
                CHECK_EQ(test_child_wait(observer), 0);
        }
        test_bus_stop(bus);
}

TEST_MAIN()
