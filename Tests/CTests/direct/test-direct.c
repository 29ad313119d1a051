/* Posts that reach other processes through the table. */
#include <signal.h>
#include <stdlib.h>

#include "direct/ring.h"
#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "util/hash.h"
#include "util/throttle.h"

TEST_NO_BUS(aPostReachesAnotherProcess)
{
        test_bus_use_none();
        test_child *child = spawn_observer("N", "M");

        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(child_posts(child, 0), 1);
        for (int i = 0; i < 5; i++)
                post_ok(dn_center_darwin(), "M");
        WAIT_UNTIL_EQ(child_posts(child, 1), 5);
        CHECK_EQ(child_posts(child, 0), 1);
        CHECK_EQ(test_child_wait(child), 0);
}

/* Arguments: name. Posts once and exits without any cleanup. */
ROLE(postAndDie)
{
        if (dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0) < 0)
                return 1;
        raise(SIGKILL);
        return 1;
}

TEST_NO_BUS(aPostIsHeardEvenIfItsPosterIsKilledAtOnce)
{
        test_bus_use_none();
        test_child *child = spawn_observer("N", NULL);

        for (uint64_t i = 1; i <= 20; i++) {
                CHECK_EQ(test_child_wait(test_spawn_role("postAndDie", "N", NULL)), 128 + SIGKILL);
                WAIT_UNTIL_EQ(child_posts(child, 0), i);
        }
        CHECK_EQ(test_child_wait(child), 0);
}

/* The bus need not do anything for it; when it continues, nothing arrives twice. */
TEST_ON_BUS(aPostIsHeardEvenIfTheBusIsStalled)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_signal signal;

        test_peer_watch(peer, TEST_WIRE_RULE);
        test_child *child = spawn_observer("N", NULL);
        post_ok(dn_center_darwin(), "before");
        test_bus_pause(bus);
        for (uint64_t i = 1; i <= 3; i++) {
                CHECK_EQ(test_child_wait(test_spawn_role("postAndDie", "N", NULL)), 128 + SIGKILL);
                WAIT_UNTIL_EQ(child_posts(child, 0), i);
        }
        for (uint64_t i = 4; i <= 8; i++) {
                post_ok(dn_center_darwin(), "N");
                WAIT_UNTIL_EQ(child_posts(child, 0), i);
        }
        test_bus_resume(bus);
        post_ok(dn_center_darwin(), "end");
        do
                test_peer_next(peer, &signal);
        while (strcmp(signal.name, "end") != 0);
        CHECK_EQ(child_posts(child, 0), 8);
        CHECK_EQ(test_child_wait(child), 0);
}

/* Posts N for each line, then answers it. */
ROLE(postOnDemand)
{
        char line[16];

        while (fgets(line, sizeof line, stdin)) {
                if (dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0) < 0)
                        return 1;
                printf("posted\n");
        }
        return 0;
}

TEST(aPostThatArrivesTwoWaysIsHeardOnce)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *poster = test_spawn_role("postOnDemand", NULL);
        static tally seen = {0};

        test_peer_watch(peer, TEST_WIRE_RULE);
        tally_observe(dn_center_darwin(), "N", &seen);
        for (uint64_t i = 1; i <= 50; i++) {
                CHECK_STREQ(test_child_ask(poster, "post"), "posted");
                WAIT_UNTIL_EQ(seen.n_posts, i);
        }
        fence_bus(peer);
        CHECK_EQ(seen.n_posts, 50);
        CHECK_EQ(seen.n_calls, 50);
        CHECK_EQ(test_child_wait(poster), 0);
}

TEST_NO_BUS(aStoppedProcessHearsEachNameOnceItContinues)
{
        test_bus_use_none();
        test_child *child = spawn_observer("N", "M");

        test_child_pause(child);
        for (int i = 0; i < 100; i++)
                post_ok(dn_center_darwin(), "N");
        post_ok(dn_center_darwin(), "M");
        test_child_resume(child);
        WAIT_UNTIL_EQ(child_posts(child, 0), 100);
        WAIT_UNTIL_EQ(child_posts(child, 1), 1);
        CHECK_EQ(test_child_wait(child), 0);
}

/* Without naps there are 36 switches in a thousand posts, with them one or two; more where the
 * poster seldom gets the processor. */
TEST_NO_BUS(aFloodWakesItsReceiverSeldom)
{
        dn_executor executor = dn_executor_inline();
        static tally seen = {0};

        if (TEST_HAS_SANITIZER)
                SKIP("a sanitizer makes the poster too slow for a flood");
        test_bus_use_none();
        tally_observe_on(dn_center_darwin(), "N", &seen, &executor);
        test_child *poster = test_spawn_role("post", "N", "1000000", "return", NULL);
        WAIT_UNTIL(seen.n_posts > 0);
        uint64_t began_us = test_now_us(), n_before = test_n_switches_of_others();
        WAIT_UNTIL_EQ(seen.n_posts, 1000000);
        uint64_t n_switches = test_n_switches_of_others() - n_before;
        uint64_t n_spans = (test_now_us() - began_us) / DN__THROTTLE_SPAN_US + 2;
        /* A machine that is slow gives the flood more spans. */
        CHECK(n_switches < 20000 || n_switches < 2 * (DN__THROTTLE_N_EVENTS + 1) * n_spans);
        CHECK_EQ(test_child_wait(poster), 0);
}

static void count_taken(void *context, size_t slot_index)
{
        (void)slot_index;
        ++*(unsigned *)context;
}

/* More than are sorted at once. */
TEST_NO_BUS(everyMarkIsTaken)
{
        dn__region *region = open_region("key"), *poster = open_region("key");
        unsigned n_taken = 0;

        for (int i = 0; i < 600; i++) {
                char name[16];

                snprintf(name, sizeof name, "%d", i);
                dn__shm_slot *slot = dn__slot_hold(region, dn__hash64(name, strlen(name)), name,
                                                   strlen(name));
                CHECK(slot != NULL);
                dn__ring_holders(poster, &poster->table->slots[slot - region->table->slots]);
        }
        dn__ring_take(region, count_taken, &n_taken);
        CHECK_EQ(n_taken, 600);
        dn__region_close(region);
        dn__region_close(poster);
}

TEST_MAIN()
