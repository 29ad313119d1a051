/* A bus that accepts little, accepts late, or accepts nothing. */

#include "record.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define N_SLOW_POSTS 20000
#define N_STALLED_POSTS 1000000
#define N_NAMES 1000

static test_bus *start_small_bus(void)
{
        /* The limit of dbus-broker applies to all connections of the user. */
        test_bus_limits limits = {.max_outgoing_bytes = test_bus_is_broker(NULL) ? 4000000
                                                                                 : 1000000};

        return test_bus_begin_with(&limits);
}

TEST_ON_BUS(stoppedObserverHearsEveryPostAfterwards)
{
        start_small_bus();
        test_child *child = spawn_observer("N", NULL);
        static tally own = {0};

        tally_observe(dn_center_darwin(), "N", &own);
        test_child_pause(child);
        for (int i = 0; i < N_SLOW_POSTS; i++)
                post_soon(dn_center_darwin(), "N");
        test_child_resume(child);
        WAIT_UNTIL_EQ(child_posts(child, 0), N_SLOW_POSTS);
        WAIT_UNTIL_EQ(own.n_posts, N_SLOW_POSTS);
        post_soon(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(child_posts(child, 0), N_SLOW_POSTS + 1);
        WAIT_UNTIL_EQ(own.n_posts, N_SLOW_POSTS + 1);
}

TEST_ON_BUS(blockedCallbackDoesNotCostTheConnection)
{
        test_bus *bus = start_small_bus();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally slow = {.blocks = true}, quick = {0}, fence = {0};
        const dn_executor *inline_executor = dn_executor_inline();

        test_peer_watch(peer, "type='signal',arg0='who'");
        tally_observe(dn_center_darwin(), "N", &slow);
        tally_observe_on(dn_center_darwin(), "N", &quick, inline_executor);
        tally_observe_on(dn_center_darwin(), "fence", &fence, inline_executor);
        const char *own = own_name(peer);
        for (unsigned i = 1; i <= 20; i++) { /* more than the limit in total */
                post_elsewhere("N", N_SLOW_POSTS / 20, "return");
                WAIT_UNTIL_EQ(quick.n_posts, N_SLOW_POSTS / 20 * i);
                /* The table counts all of them; their signals may still be on their way. */
                test_peer_post(peer, "fence");
                WAIT_UNTIL_EQ(fence.n_posts, i);
        }
        CHECK(test_peer_sees(peer, own));
        slow.blocks = false;
        WAIT_UNTIL_EQ(slow.n_posts, N_SLOW_POSTS);
        CHECK(test_peer_sees(peer, own));
}

TEST_ON_BUS(millionPostsToAStalledBusNeedNoMemory)
{
        test_bus *bus = test_bus_begin();
        test_child *child = spawn_observer("N", NULL);

        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(child_posts(child, 0), 1);
        test_bus_pause(bus);
        uint64_t before = test_resident_bytes();
        for (int i = 0; i < N_STALLED_POSTS; i++)
                post_ok(dn_center_darwin(), "N");
        CHECK(TEST_HAS_SANITIZER || test_resident_bytes() < before + (8 << 20));
        test_bus_resume(bus);
        WAIT_UNTIL_EQ(child_posts(child, 0), 1 + N_STALLED_POSTS);
}

TEST_ON_BUS(tooManyWaitingNamesAreReported)
{
        test_bus *bus = test_bus_begin();
        static tally own = {0};
        int r = 0;

        tally_observe(dn_center_darwin(), "last", &own);
        test_bus_pause(bus);
        for (unsigned i = 0; i < 1000000 && r == 0; i++)
                r = dn_center_post(dn_center_darwin(), numbered("waiting", i), NULL, NULL, 0);
        CHECK_EQ(r, -ENOBUFS);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "last", NULL, NULL, 0), -ENOBUFS);
        WAIT_UNTIL_EQ(own.n_posts, 1); /* refused by the bus, but not within the process */
        test_bus_resume(bus);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), -ENOBUFS);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        post_ok(dn_center_darwin(), "last");
        WAIT_UNTIL_EQ(own.n_posts, 2);
}

TEST_ON_BUS(moreNamesThanTheBusHasRulesForWork)
{
        test_bus *bus = test_bus_begin_with(&(test_bus_limits){.max_match_rules = 20});
        test_peer *peer = test_peer_open_watching(bus);
        const char *own = own_name(peer);
        static tally seen[N_NAMES];

        tally_observe_all("many", seen, N_NAMES);
        for (unsigned i = 0; i < N_NAMES; i++)
                test_peer_post(peer, numbered("many", i));
        for (int i = 0; i < N_NAMES; i++)
                WAIT_UNTIL(seen[i].n_calls > 0);
        fence_bus(peer);
        for (int i = 0; i < N_NAMES; i++)
                CHECK_EQ(seen[i].n_calls, 1);
        CHECK(test_peer_sees(peer, own));
}

TEST_ON_BUS(busWithoutAnyRulesRefusesObservers)
{
        test_bus_begin_with(&(test_bus_limits){.max_match_rules = TEST_BUS_NOTHING});
        dn_center *center = dn_center_darwin();
        static tally seen = {0};
        uint64_t began_us;
        int r;

        expect_refusal(center, "N", &seen);
        do {
                began_us = test_now_us();
                r = dn_center_add_observer(center, &seen, tally_callback, "N", NULL, 0);
                CHECK_EQ(dn_center_remove_every_observer(center, &seen), 0);
        } while (r == 0 && is_late(began_us));
        CHECK_EQ(r, -ENOBUFS);
        post_ok(dn_center_darwin(), "N");
        fence_executor();
        CHECK_EQ(seen.n_calls, 0);
}

/* A bus that does not read: beyond the limit, posts of the distributed center are refused. They
 * leave no gap. */
TEST_ON_BUS(postsThatWaitForTheBusAreBounded)
{
        enum { N_MAX = 65536 };
        test_bus *bus = test_bus_begin();
        dn_center *poster = open_distributed(test_bus_address(bus));
        dn_observer *observer;
        int r, n = 0;
        record seen;

        observer = record_observe(dn_center_distributed(), &(dn_filter){.name = "b"}, &seen);
        CHECK_EQ(post_number(poster, "b", NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        test_bus_pause(bus);
        while ((r = dn_center_post(poster, "a", NULL, NULL, 0)) == 0 && n < 2 * N_MAX)
                n++;
        CHECK(r == -ENOBUFS && n > N_MAX);
        CHECK_EQ(dn_center_post(poster, "b", NULL, NULL, 0), -ENOBUFS);
        test_bus_resume(bus);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), -ENOBUFS);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        CHECK_EQ(post_number(poster, "b", NULL, 1), 0);
        record_expect(&seen, 2, "b {\"i\": 0}\nb {\"i\": 1}\n");
        record_drop(observer, &seen);
        dn_center_unref(poster);
}

TEST_MAIN()
