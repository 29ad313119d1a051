/* Observers of all names that begin with a text, on the Darwin center. */
#include "record.h"
#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"

TEST_ON_BUS(theEventSaysWhichNameWasPosted)
{
        test_bus_begin();
        static record com, all;

        record_observe(dn_center_darwin(), &(dn_filter){ .prefix = "com.x" }, &com);
        record_observe(dn_center_darwin(), &(dn_filter){ .prefix = "" }, &all);
        post_elsewhere("com.x", 1, "_exit");
        WAIT_UNTIL_EQ(all.n_calls, 1);
        post_elsewhere("com.xy", 1, "_exit");
        WAIT_UNTIL_EQ(all.n_calls, 2);
        post_elsewhere("org.x", 1, "_exit");
        WAIT_UNTIL_EQ(all.n_calls, 3);
        post_ok(dn_center_darwin(), "com.x.own");
        post_ok(dn_center_darwin(), "self.own");
        record_expect(&all, 5, "com.x\ncom.xy\norg.x\ncom.x.own\nself.own\n");
        record_expect(&com, 3, "com.x\ncom.xy\ncom.x.own\n");
}

/* There is no bus while they are posted; another process holds the name, so that it is counted. */
TEST_ON_BUS(namesInTheTableAreCaughtUp)
{
        test_bus *bus = test_bus_begin();
        spawn_observer("com.x", NULL);
        static tally seen = { 0 };

        await_bus(dn_center_darwin());
        tally_observe_prefix("com.", &seen);
        test_bus_kill(bus);
        post_elsewhere("com.x", 10, "return");
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(seen.n_posts, 10);
}

TEST_ON_BUS(theBusHasOneRuleForAllPrefixesAndThoseOfNamesAfterThem)
{
        test_peer *peer = test_peer_begin();
        static tally a = { 0 }, b = { 0 }, exact = { 0 };
        dn_observer *observers[3] = { 0 };
        test_signal own;

        post_ok(dn_center_darwin(), "com.own");
        test_peer_next(peer, &own);
        observers[0] = tally_observe_prefix("com.a", &a);
        observers[1] = tally_observe_prefix("com.", &b);
        observers[2] = tally_observe(dn_center_darwin(), "com.a.x", &exact);
        if (test_peer_n_rules(peer, own.sender) >= 0)
                CHECK_EQ(test_peer_n_rules(peer, own.sender), 1);
        test_peer_post(peer, "com.a.x");
        WAIT_UNTIL(a.n_calls == 1 && b.n_calls == 1 && exact.n_calls == 1);
        tally_drop(observers[0]);
        tally_drop(observers[1]);
        /* Nothing is missed while the rules change. */
        for (int i = 0; i < 200; i++) {
                test_peer_post(peer, "com.a.x");
                test_let_pass_ms(10);
        }
        WAIT_UNTIL_EQ(exact.n_posts, 201);
        if (test_peer_n_rules(peer, own.sender) >= 0)
                WAIT_UNTIL_EQ(test_peer_n_rules(peer, own.sender), 1);
        CHECK_EQ(a.n_calls, 1);
}

TEST_NO_BUS(withoutBusAndTableARegistrationSaysSoAndHearsItsOwnProcess)
{
        static record seen;
        dn_observer *observer = NULL;

        test_bus_use_none();
        forbid_tables();
        record_init(&seen);
        CHECK_EQ(dn_center_observe_prefix(dn_center_darwin(), "com.", RECORD_HANDLER(&seen), NULL,
                                          &observer),
                 DN_NOT_CONNECTED);
        post_soon(dn_center_darwin(), "com.own");
        record_expect(&seen, 1, "com.own\n");
}

/* --- The number of posts where the table counts the name ----------------------------------- */

#define NAME "com.x"

static test_bus *bus;
static test_peer *peer;
static test_child *holder; /* so that the name is counted */

static void prepare(void)
{
        bus = test_bus_begin();
        peer = test_peer_open_watching(bus);
        holder = spawn_observer(NAME, NULL);
}

/* Changes the count as if so many posts had been counted and the bus had dropped their signals. */
static void change_count(int64_t difference)
{
        AUTO_REGION *region = enter_table(test_bus_address(bus));

        atomic_fetch_add(&find(region, NAME)->generation, (uint64_t)difference);
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

TEST_ON_BUS(postsThatNobodyObservedAreNotHeardLater)
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

TEST_ON_BUS(aSignalReportsNoMoreThanWasCounted)
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

TEST_ON_BUS(aCountThatHasDecreasedStillReportsPosts)
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

        SKIP_IF(geteuid() != 0, "needs to become another user");
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
