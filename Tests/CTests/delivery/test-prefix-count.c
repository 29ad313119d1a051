/* How many posts an observer of a prefix is told of, where the table counts the name. */
#include <darwinnotify/darwinnotify.h>

#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "util/hash.h"

#define NAME "com.x"

static test_bus *bus;
static test_peer *peer;
static test_child *holder; /* so that the name is counted */

static void prepare(void)
{
        bus = test_bus_begin();
        peer = test_peer_open(test_bus_address(bus));
        test_peer_watch(peer, TEST_WIRE_RULE);
        holder = spawn_observer(NAME, NULL);
}

static dn__shm_slot *find_slot(dn__region **ret_region)
{
        dn__shm_slot *slot;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(test_bus_address(bus), ret_region), 0);
        slot = dn__slot_find(*ret_region, dn__hash64(NAME, strlen(NAME)), NAME, strlen(NAME));
        CHECK(slot);
        return slot;
}

/* As if so many posts had been counted, and their signals dropped. */
static void change_count(int64_t difference)
{
        dn__region *region;
        dn__shm_slot *slot = find_slot(&region);

        atomic_fetch_add(&slot->generation, (uint64_t)difference);
        dn__region_close(region);
}

static void post_and_expect(tally *seen, uint64_t n_posts)
{
        post_ok(dn_center_darwin(), NAME);
        WAIT_UNTIL(seen->n_posts >= n_posts);
        fence_bus(peer);
        CHECK_EQ(seen->n_posts, n_posts);
}

TEST_ON_BUS(anObserverThatComesLaterLeavesTheOthersWhatTheyMissed)
{
        static tally first = { 0 }, second = { 0 };

        prepare();
        tally_observe_prefix("com.", &first);
        post_and_expect(&first, 1);
        change_count(5);
        tally_observe_prefix("com", &second);
        post_and_expect(&first, 1 + 5 + 1);
}

TEST_ON_BUS(whatWasPostedWhileNobodyObservedIsNotTold)
{
        static tally earlier = { 0 }, later = { 0 };
        dn_observer *observer;

        prepare();
        observer = tally_observe_prefix("com.", &earlier);
        post_and_expect(&earlier, 1);
        tally_drop(observer);
        change_count(5);
        observer = tally_observe_prefix("com.", &later);
        post_and_expect(&later, 1);
}

TEST_ON_BUS(aSignalTellsOfNoMoreThanWasCounted)
{
        static tally seen = { 0 };
        test_signal own;

        prepare();
        tally_observe_prefix("com.", &seen);
        post_ok(dn_center_darwin(), NAME);
        test_peer_next(peer, &own);
        CHECK_STREQ(own.name, NAME);
        test_peer_post_full(peer, own.interface, NAME, own.generation + 1000, own.region);
        post_and_expect(&seen, 2);
}

TEST_ON_BUS(aCountThatHasDecreasedStillTellsOfPosts)
{
        static tally seen = { 0 };

        prepare();
        tally_observe_prefix("com.", &seen);
        for (int i = 1; i <= 10; i++)
                post_and_expect(&seen, (uint64_t)i);
        change_count(-5);
        post_and_expect(&seen, 11);
}

TEST_ON_BUS(namesThatTheUserMayNotObserveAreLeftOut)
{
        static tally seen = { 0 };

        if (geteuid() != 0)
                SKIP("needs to become another user");
        prepare();
        tally_observe_prefix("u", &seen);
        CHECK_EQ(seteuid(65534), 0);
        test_peer_post(peer, "user.uid.1.x");
        test_peer_post(peer, "u.x");
        WAIT_UNTIL(seen.n_posts > 0);
        CHECK_EQ(seen.n_posts, 1);
        CHECK_EQ(seteuid(0), 0);
}

TEST_MAIN()
