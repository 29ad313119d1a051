/* Posts that reach other processes through the table. */
#include <errno.h>
#include <signal.h>

#include "delivery/hub.h"
#include "direct/ring.h"
#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

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
        test_peer *peer = test_peer_open_watching(bus);

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
        test_peer_await(peer, "end", NULL);
        CHECK_EQ(child_posts(child, 0), 8);
        CHECK_EQ(test_child_wait(child), 0);
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

/* Another thread has moved the process to another table since the post was counted. */
TEST_NO_BUS(aPostThatWasCountedInAnotherTableIsReported)
{
        static tally seen;
        dn__post post = {.generation = 1};
        dn__carrier *direct;
        dn__region *region;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "N", &seen);
        direct = dn__hub_find(dn_center_darwin())->direct;
        region = atomic_load(&dn__hub_find(dn_center_darwin())->member.region);
        CHECK_EQ(dn__name_init(&post.name, "N", DN__REACH_BEYOND), 0);
        post.region_id = region->id;
        CHECK_EQ(direct->ops->post(direct, &post), 0);
        post.region_id = region->id + 1;
        CHECK_EQ(direct->ops->post(direct, &post), -ESTALE);
}

/* It was counted, but its poster has not rung yet. */
TEST_NO_BUS(aPostBeforeARegistrationIsHeardByEarlierObserversAlone)
{
        static tally earlier, later;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "N", &earlier);
        AUTO_REGION *region = enter_table("none");
        dn__slot_count_post(find(region, "N"));
        tally_observe(dn_center_darwin(), "N", &later);
        WAIT_UNTIL_EQ(earlier.n_posts, 1);
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(earlier.n_posts, 2);
        WAIT_UNTIL_EQ(later.n_posts, 1);
}

static void count_taken(void *context, size_t slot_index)
{
        ++*(unsigned *)context;
}

/* More than are sorted at once. */
TEST_NO_BUS(everyMarkIsTaken)
{
        AUTO_REGION *region = open_region("key"), *poster = open_region("key");
        unsigned n_taken = 0;

        for (int i = 0; i < 600; i++) {
                dn__shm_slot *slot = hold(region, FORMAT("%d", i));

                CHECK(slot != NULL);
                dn__ring_holders(poster, &poster->table->slots[slot - region->table->slots]);
        }
        dn__ring_take(region, count_taken, &n_taken);
        CHECK_EQ(n_taken, 600);
}

TEST_MAIN()
