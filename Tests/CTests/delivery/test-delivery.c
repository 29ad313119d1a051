/* Every post is delivered. */

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define N_BURST 5000
#define N_ROUNDS 200

TEST(aPostBeforeTheEndOfItsProcessIsDelivered)
{
        test_peer *peer = test_peer_begin();
        const char *const ways_out[] = { "return", "exit", "_exit" };
        static tally seen = {0};

        tally_observe(dn_center_darwin(), "farewell", &seen);
        for (unsigned i = 0; i < 3; i++) {
                post_elsewhere("farewell", 1, ways_out[i]);
                WAIT_UNTIL_EQ(seen.n_calls, i + 1);
        }
        fence_bus(peer);
        CHECK_EQ(seen.n_calls, 3);
        CHECK_EQ(seen.n_posts, 3);
}

ROLE(postBurst)
{
        for (unsigned i = 0; i < N_BURST; i++) {
                int r = dn_center_post(dn_center_darwin(), numbered("burst", i), NULL, NULL, 0);
                if (r < 0 && r != -ENOBUFS)
                        return 1;
        }
        return 0;
}

TEST(burstOfDistinctNamesThenExitIsDelivered)
{
        test_bus_begin();
        static tally seen[N_BURST];

        tally_observe_all("burst", seen, N_BURST);
        CHECK_EQ(test_child_wait(test_spawn_role("postBurst", NULL)), 0);
        for (int i = 0; i < N_BURST; i++)
                WAIT_UNTIL_EQ(seen[i].n_calls, 1);
}

/* The posters are another process with the library and a D-Bus program. Some names have been
 * registered before, most recently just now. */
TEST(postRightAfterRegistrationIsNeverMissed)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        test_child *poster = test_spawn_role("testPeer", NULL);

        for (unsigned i = 0; i < N_ROUNDS; i++) {
                const char *name = numbered("round", i % 4 < 2 ? 0 : i);
                tally seen = {0};
                if (i % 4 < 2)
                        tally_drop(tally_observe(dn_center_darwin(), name, &seen));
                dn_observer *observer = tally_observe(dn_center_darwin(), name, &seen);
                if (i % 2)
                        test_peer_post(peer, name);
                else
                        CHECK_STREQ(test_child_ask(poster, name), "posted");
                WAIT_UNTIL_EQ(seen.n_calls, 1);
                tally_drop(observer);
                WAIT_UNTIL_EQ(seen.n_destroyed, i % 4 < 2 ? 2 : 1);
        }
}

TEST(everyRegistrationGetsItsOwnCallInEveryProcess)
{
        test_peer *peer = test_peer_begin();
        test_child *child = test_spawn_role("observe", "twice", "twice", "twice", NULL);
        static tally seen = {0};

        CHECK_STREQ(test_child_read_line(child), "ready");
        for (int i = 0; i < 5; i++)
                CHECK_EQ(dn_center_add_observer(dn_center_darwin(), &seen, tally_callback, "twice",
                                                NULL, 0),
                         0);
        post_elsewhere("twice", 1, "return");
        WAIT_UNTIL_EQ(seen.n_calls, 5);
        for (unsigned i = 0; i < 3; i++)
                WAIT_UNTIL_EQ(child_calls(child, i), 1);
        fence_bus(peer);
        CHECK_EQ(seen.n_calls, 5);
}

/* Through the table and over the bus. */
TEST(aPostThatArrivesTwoWaysIsDeliveredOnce)
{
        test_peer *peer = test_peer_begin();
        test_child *poster = test_spawn_role("testPeer", NULL);
        static tally seen = {0};

        tally_observe(dn_center_darwin(), "N", &seen);
        for (int i = 1; i <= 40; i++) {
                if (i % 2)
                        post_ok(dn_center_darwin(), "N");
                else
                        CHECK_STREQ(test_child_ask(poster, "N"), "posted");
                WAIT_UNTIL_EQ(seen.n_calls, i);
                if (i % 4 == 0)
                        fence_bus(peer);
                CHECK_EQ(seen.n_calls, i);
        }
        CHECK_EQ(seen.n_posts, 40);
}

TEST(twoCentersOnOneBusDoNotDuplicateAPost)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open_watching(bus);
        dn_center *second = open_center(test_bus_address(bus));
        static tally on_first = {0}, on_second = {0};

        tally_observe(dn_center_darwin(), "pair", &on_first);
        tally_observe(second, "pair", &on_second);
        post_ok(second, "pair");
        WAIT_UNTIL_EQ(on_first.n_calls, 1);
        WAIT_UNTIL_EQ(on_second.n_calls, 1);
        fence_bus(peer);
        CHECK_EQ(on_first.n_calls, 1);
        CHECK_EQ(on_second.n_calls, 1);
}

TEST_MAIN()
