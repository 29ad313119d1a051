/* Observers of a prefix hear of registered names through the table, which may be replaced. */
#include "delivery/prefix.h"
#include "delivery/topic.h"
#include "direct/ring.h"
#include "inside.h"
#include "member.h"
#include "record.h"
#include "roles.h"
#include "shm.h"
#include "table-file.h"
#include "tally.h"

#define N_POSTS 20000 /* of each poster */
#define N_POSTERS 2

static tally own;

ROLE(observeForEver)
{
        tally_observe_prefix("", &own);
        printf("ready\n");
        (void)getchar();
        return 0;
}

TEST_NO_BUS(aTableIsFollowedForAPrefixThatReplacesAnother)
{
        test_bus_use_none();
        dn_observer *first = tally_observe_prefix("first", &own);
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        dn__region *region = atomic_load(&hub->member.region);
        dn__topic *second;
        dn__name name;

        tally_drop(first);
        dn__topic_sweep(hub, DN__NEVER);
        CHECK_EQ(dn__name_init_prefix(&name, "second", DN__REACH_BEYOND), 0);
        second = dn__topic_acquire(hub, &name);
        CHECK_EQ(dn__prefix_begin(hub), 1);
        CHECK_EQ(dn__prefix_begin(hub), 0); /* it is followed already */
        CHECK(atomic_load(&region->table->followers[region->process / 64]) >>
                      region->process % 64 & 1);
        dn__topic_give_back(second);
        dn__hub_lock(hub);
        CHECK_EQ(dn__prefix_hand(hub, &(dn__post){.name = name}, NULL), 0); /* nobody is left */
        dn__hub_unlock(hub);
}

TEST_NO_BUS(withoutABusRegisteredNamesAreHeard)
{
        record seen;

        test_bus_use_none();
        dn_observer *observer =
                record_observe(dn_center_darwin(), &(dn_filter){.prefix = "com."}, &seen);
        test_child *holder = spawn_observer("com.held", "org.held");
        post_elsewhere("com.held", 1, "return");
        post_elsewhere("com.unheld", 1, "return");
        post_elsewhere("org.held", 1, "return");
        post_ok(dn_center_darwin(), "com.own");
        post_elsewhere("com.held", 1, "return");
        WAIT_UNTIL_EQ(seen.n_calls, 3);
        CHECK_STREQ(seen.text, "com.held\ncom.own\ncom.held\n");
        record_drop(observer, &seen);
        test_child_wait(holder);
}

/* Another program may have written it. */
TEST_NO_BUS(whatIsNoNameInTheTableIsNotHeard)
{
        static tally seen;

        test_bus_use_none();
        tally_observe_prefix("", &seen);
        AUTO_REGION *other = enter_table("none");
        dn__shm_slot *slot = hold(other, "x");
        slot->name[0] = 0xff;
        atomic_fetch_add(&slot->generation, 1);
        dn__ring_holders(other, slot);
        WAIT_UNTIL(!dn__ring_is_marked(atomic_load(&dn__hub_find(dn_center_darwin())
                                                            ->member.region)));
        slot = hold(other, "y");
        atomic_fetch_add(&slot->generation, 1);
        dn__ring_holders(other, slot);
        WAIT_UNTIL(seen.n_posts > 0);
        CHECK_EQ(seen.n_posts, 1);
}

TEST_NO_BUS(aNameThatIsRegisteredLaterIsHeardFromItsFirstPost)
{
        static tally seen;

        test_bus_use_none();
        dn_observer *observer = tally_observe_prefix("late.", &seen);
        test_child *poster = test_spawn_role("testPeer", NULL);
        for (unsigned i = 1; i <= 20; i++) {
                const char *name = numbered("late", i);
                tally_observe(dn_center_darwin(), name, &own);
                CHECK_STREQ(test_child_ask(poster, name), "posted");
                post_ok(dn_center_darwin(), name);
                CHECK_STREQ(test_child_ask(poster, name), "posted");
                WAIT_UNTIL_EQ(seen.n_posts, 3 * i);
        }
        CHECK_EQ(own.n_posts, 60);
        tally_drop(observer);
        test_child_wait(poster);
}

TEST(everyPostOfAFloodIsCountedOnce)
{
        test_child *posters[N_POSTERS];
        static tally seen;
        test_peer *peer = test_peer_begin();

        dn_observer *observer = tally_observe_prefix("fl", &seen);
        tally_observe(dn_center_darwin(), "flood", &own);
        test_child *holder = spawn_observer("flood", NULL);
        for (size_t i = 0; i < N_POSTERS; i++)
                posters[i] = test_spawn_role("post", "flood", "20000", "return", NULL);
        for (size_t i = 0; i < N_POSTERS; i++)
                CHECK_EQ(test_child_wait(posters[i]), 0);
        WAIT_UNTIL_EQ(seen.n_posts, N_POSTS * N_POSTERS);
        WAIT_UNTIL_EQ(own.n_posts, N_POSTS * N_POSTERS);
        WAIT_UNTIL_EQ(child_posts(holder, 0), N_POSTS * N_POSTERS);
        for (int i = 0; i < 300; i++)
                post_ok(dn_center_darwin(), "flood");
        fence_bus(peer);
        WAIT_UNTIL_EQ(seen.n_posts, N_POSTS * N_POSTERS + 300);
        WAIT_UNTIL_EQ(own.n_posts, N_POSTS * N_POSTERS + 300);
        tally_drop(observer);
        test_child_wait(holder);
}

TEST_NO_BUS(anObserverGoesToTheNextTable)
{
        static tally seen;
        uint64_t n_before;

        test_bus_use_none();
        dn_observer *observer = tally_observe_prefix("com.", &seen);
        test_child *holder = spawn_observer("com.x", NULL), *member = spawn_member("other");
        for (int i = 0; i < 5; i++) {
                remove_table();
                look_later(member);
                WAIT_UNTIL((post_by(member, "com.x"), is_there()));
                n_before = seen.n_posts; /* a post finds no slot before the holder has moved, too */
                WAIT_UNTIL((post_by(member, "com.x"), seen.n_posts > n_before));
        }
        tally_drop(observer);
        test_child_wait(member);
        test_child_wait(holder);
}

TEST_NO_BUS(anObserverWithoutATableGetsOneLater)
{
        static tally seen;
        dn_observer *observer = NULL;

        test_bus_use_none();
        test_child *member = spawn_member("com.x");
        forbid_tables();
        remove_table();
        CHECK_EQ(dn_center_observe_prefix(dn_center_darwin(), "com.", TALLY_HANDLER(&seen), NULL,
                                          &observer),
                 DN_NOT_CONNECTED);
        WAIT_UNTIL((post_by(member, "com.x"), seen.n_posts > 0));
        tally_drop(observer);
        test_child_wait(member);
}

/* The process that gets its entry hears only of its own names. */
TEST_NO_BUS(anObserverThatWasKilledLeavesNothingBehind)
{
        test_bus_use_none();
        AUTO_REGION *own = open_region("none");
        test_child *observer = test_child_await(test_spawn_role("observeForEver", NULL), "ready");
        CHECK(own->table->followers[0] != 0);
        test_child_kill(observer);
        AUTO_REGION *heir = open_region("none");
        CHECK_EQ(own->table->followers[0], 0);
}

TEST_NO_BUS(theLastObserverEndsIt)
{
        static tally seen[2];
        dn_observer *observers[2];

        test_bus_use_none();
        AUTO_REGION *own = open_region("none");
        for (int i = 0; i < 2; i++)
                observers[i] = tally_observe_prefix(i ? "a" : "b", &seen[i]);
        CHECK(own->table->followers[0] != 0);
        tally_drop(observers[0]);
        test_child *holder = spawn_observer("a", NULL);
        post_elsewhere("a", 1, "return");
        WAIT_UNTIL_EQ(seen[1].n_posts, 1);
        tally_drop(observers[1]);
        WAIT_UNTIL_EQ(own->table->followers[0], 0);
        test_child_wait(holder);
}

/* --- Names that are moved to the next table meanwhile ---------------------------------------- */

#define N_HELD 8

static _Atomic unsigned n_heard[N_HELD];
static test_child *holder; /* of all but one of the names; stopped while this process moves */

static void note_held(const dn_event *event, void *context)
{
        if (event->name[strlen("com.")] != 'o')
                n_heard[atoi(event->name + strlen("com."))]++;
}

/* Runs the work at once, but not before the holder has its names in the next table. */
static int run_behind_holder(void *context, dn_work_fn work, void *argument)
{
        const dn__region *region = atomic_load(&dn__hub_find(dn_center_darwin())->member.region);
        dn__name name;

        test_child_resume(holder);
        for (unsigned i = 0; i < N_HELD; i++) {
                CHECK_EQ(dn__name_init(&name, numbered("com", i), DN__REACH_BEYOND), 0);
                WAIT_UNTIL(dn__slot_find(region, &name));
        }
        work(argument);
        return 0;
}

/* What a post has counted in the table before may not have been taken from there. */
TEST_NO_BUS(eachNameIsReportedOnceMoreInTheNextTable)
{
        const dn_handler handler = {.invoke = note_held};
        const dn_executor executor = {.enqueue = run_behind_holder};

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "com.own", &own);
        CHECK_EQ(dn_center_observe_prefix(dn_center_darwin(), "com.", &handler, &executor, NULL),
                 0);
        holder = test_child_await(
                test_spawn_role("observe", "com.0", "com.1", "com.2", "com.3", "com.4", "com.5",
                                "com.6", "com.7", NULL),
                "ready");
        remove_table();
        test_child_pause(holder);
        (void)forget_look(dn_center_darwin());
        post_ok(dn_center_darwin(), "other");
        for (unsigned i = 0; i < N_HELD; i++)
                WAIT_UNTIL(n_heard[i] > 0);
        test_child_wait(holder);
}

/* Otherwise the bus would send each post again. */
TEST_ON_BUS(aPrefixIsCountedInTheNextTable)
{
        static tally seen;

        test_bus_begin();
        tally_observe_prefix("com.", &seen);
        CHECK(dbus_counts_prefixes(dbus_of(dn_center_darwin())));
        remove_table();
        (void)forget_look(dn_center_darwin());
        post_soon(dn_center_darwin(), "other");
        CHECK(is_there());
        CHECK(dbus_counts_prefixes(dbus_of(dn_center_darwin())));
}

TEST_MAIN()
