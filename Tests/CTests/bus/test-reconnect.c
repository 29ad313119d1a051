/* The bus goes away and comes back. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "inside.h"
#include "roles.h"
#include "table-file.h"
#include "tally.h"
#include "test-bus.h"

/* Its bus was missing for long, then there for longer than a moment. */
TEST_ON_BUS(aGoodConnectionThatIsLostIsSoughtAtOnce)
{
        test_bus *bus = test_bus_begin();
        dn_center *center = dn_center_darwin();

        await_bus(center);
        dn__dbus *dbus = dbus_of(center);
        dbus_set_age(dbus, 2 * DN__US_PER_SECOND);
        test_bus_kill(bus);
        WAIT_UNTIL_EQ(dn_center_is_on_bus(center), 0);
        CHECK(dbus_get_backoff_us(dbus) < DN__BACKOFF_MAX_US);
}

TEST_ON_BUS(postsOfOthersDuringTheOutageArriveAfterIt)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};

        tally_observe(dn_center_darwin(), "N", &seen);
        test_bus_kill(bus);
        post_elsewhere("N", 10, "return"); /* that process has exited before the bus is back */
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(seen.n_posts, 10);
}

/* Before the bus had all rules, a process with the next table may have posted unheard. */
TEST_ON_BUS(tableIsLookedAtOnceTheRulesAreRestored)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};

        tally_observe(dn_center_darwin(), "N", &seen);
        await_bus(dn_center_darwin());
        dn__dbus *dbus = dbus_of(dn_center_darwin());
        dbus_delay_rules(dbus);
        test_bus_kill(bus);
        test_bus_start_again(bus);
        WAIT_UNTIL(dbus_has_reconnected_slowly(dbus));
        remove_table();
        dbus_finish_rules(dbus);
        WAIT_UNTIL(is_there());
}

TEST_ON_BUS(pendingPostsAreSentToForeignProgramsAfterTheOutage)
{
        test_bus *bus = test_bus_begin();

        post_ok(dn_center_darwin(), "before");
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        test_bus_kill(bus);
        WAIT_UNTIL(!dn_center_is_on_bus(dn_center_darwin()));
        dn_center_post(dn_center_darwin(), "pending", NULL, NULL, 0);
        test_bus_start_again(bus);
        test_peer *peer = test_peer_open_watching(bus);
        WAIT_UNTIL_EQ(dn_center_post(dn_center_darwin(), "after", NULL, NULL, 0), 0);
        test_peer_await(peer, "after", NULL);
        CHECK_EQ(dn_flush(0), 0);
}

static _Atomic bool stop_posting;

static void *post_without_end(void *argument)
{
        while (!stop_posting)
                dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0);
        return NULL;
}

TEST_ON_BUS(lossOfTheBusWhilePostingRaisesNoSignal)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};

        CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR); /* SIGPIPE would end this process */
        tally_observe(dn_center_darwin(), "N", &seen);
        pthread_t thread = test_start_thread(post_without_end, NULL);
        for (int i = 0; i < 10; i++) {
                uint64_t n_posts = seen.n_posts;
                test_bus_kill(bus);
                WAIT_UNTIL(seen.n_posts > n_posts + 1000);
                test_bus_start_again(bus);
        }
        stop_posting = true;
        pthread_join(thread, NULL);
}

TEST_ON_BUS(outageUsesNoCpuTime)
{
        test_bus *bus = test_bus_begin();
        static tally seen[100];

        tally_observe_all("N", seen, 100);
        test_bus_kill(bus);
        uint64_t before_us = test_cpu_us();
        test_let_pass_ms(2000);
        CHECK(test_cpu_us() - before_us < 200000 * (uint64_t)test_slowness());
}

TEST_ON_BUS(restartsRestoreAllRulesAndLeakNothing)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer;
        static tally seen = {0}, other = {0};
        unsigned n_fds = 0, n_threads = 0;

        tally_observe(dn_center_darwin(), "N", &seen);
        tally_observe(dn_center_darwin(), "M", &other);
        for (int i = 0; i < 3; i++) {
                test_bus_kill(bus);
                test_bus_start_again(bus);
                peer = test_peer_open(test_bus_address(bus));
                uint64_t n_calls = seen.n_calls, n_other = other.n_calls;
                /* Posts made before the rules are back are lost, as for any D-Bus program. */
                WAIT_UNTIL((test_peer_post(peer, "N"), seen.n_calls > n_calls));
                WAIT_UNTIL((test_peer_post(peer, "M"), other.n_calls > n_other));
                WAIT_UNTIL_EQ(test_peer_n_connections(peer, getpid()), 1);
                test_peer_close(peer);
                if (i == 0) {
                        n_fds = test_n_fds();
                        n_threads = test_n_threads();
                }
        }
        CHECK_EQ(test_n_fds(), n_fds);
        CHECK_EQ(test_n_threads(), n_threads);
}

/* --- A bus that is not there ----------------------------------------------------------------- */

static bool is_resting(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->is_resting && dbus->connect_us == DN__NEVER;
}

/* As if it had looked for the bus for long enough. */
static void end_search(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        dbus->search_us = 0;
}

/* Returns the carrier of a process that has only posted, once it rests. */
static dn__dbus *rest(const test_bus *bus)
{
        dn__dbus *dbus;

        test_bus_use(bus);
        (void)dn_center_post(dn_center_darwin(), "first", NULL, NULL, 0);
        dbus = dn__dbus_of(dn__hub_find(dn_center_darwin())->bus);
        end_search(dbus);
        WAIT_UNTIL(is_resting(dbus));
        return dbus;
}

TEST_ON_BUS(aProcessThatOnlyPostsStopsLookingForTheBusUntilItPosts)
{
        test_bus *bus = test_bus_prepare(NULL);
        dn__dbus *dbus = rest(bus);

        test_bus_start_again(bus);
        test_peer *peer = test_peer_open_watching(bus);
        CHECK(is_resting(dbus));
        CHECK_EQ(statistic(DN_STATISTIC_CONNECTS), 0);
        (void)dn_center_post(dn_center_darwin(), "second", NULL, NULL, 0);
        test_peer_await(peer, "first", NULL);
        test_peer_await(peer, "second", NULL);
}

TEST_ON_BUS(aQuestionAboutTheBusMakesAProcessLookForItAgain)
{
        test_bus *bus = test_bus_prepare(NULL);

        (void)rest(bus);
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(dn_center_is_on_bus(dn_center_darwin()), 1);
}

TEST_ON_BUS(aFlushMakesAProcessLookForTheBusAgain)
{
        test_bus *bus = test_bus_prepare(NULL);

        (void)rest(bus);
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(dn_flush(TEST_DEADLINE_US), 0);
        CHECK_EQ(statistic(DN_STATISTIC_CONNECTS), 1);
}

TEST_ON_BUS(anObserverLooksForTheBusUntilItIsThere)
{
        test_bus *bus = test_bus_prepare(NULL);
        dn__dbus *dbus = rest(bus);

        tally_observe(dn_center_darwin(), "N", &(tally){0});
        end_search(dbus);
        WAIT_UNTIL(!is_resting(dbus));
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_CONNECTS), 1);
}

TEST_MAIN()
