/* The lifetime of centers. */
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

TEST_NO_BUS(gettingACenterStartsNothing)
{
        unsigned n_fds = test_n_fds(), n_threads = test_n_threads();

        dn_center_darwin();
        dn_center_local();
        CHECK_EQ(test_n_fds(), n_fds);
        CHECK_EQ(test_n_threads(), n_threads);
}

TEST_NO_BUS(sharedCentersSurviveUnref)
{
        static tally seen = {0};

        CHECK(!dn_center_unref(dn_center_local()));
        CHECK(!dn_center_unref(dn_center_darwin()));
        CHECK(!dn_center_unref(NULL));
        tally_observe(dn_center_local(), "alive", &seen);
        post_ok(dn_center_local(), "alive");
        CHECK_EQ(seen.n_calls, 1);
}

TEST_ON_BUS(centersDoNotHearEachOther)
{
        enum { N_CENTERS = 4 };
        test_bus_begin();
        dn_center *centers[N_CENTERS] = {dn_center_local(), dn_center_darwin(),
                                         dn_center_distributed(),
                                         open_center(test_bus_address(test_bus_start(NULL, NULL)))};
        static tally seen[N_CENTERS];

        for (int i = 0; i < N_CENTERS; i++)
                tally_observe(centers[i], "same", &seen[i]);
        for (int i = 0; i < N_CENTERS; i++) {
                post_ok(centers[i], "same");
                for (int j = 0; j < N_CENTERS; j++)
                        WAIT_UNTIL_EQ(seen[j].n_calls, j <= i);
        }
        fence_executor();
        for (int i = 0; i < N_CENTERS; i++)
                CHECK_EQ(seen[i].n_calls, 1);
        dn_center_unref(centers[3]);
}

TEST_ON_BUS(openedCenterLivesAsLongAsItsObservers)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        dn_center *center = open_center(test_bus_address(bus));
        static tally seen = {0};
        dn_observer *observer = tally_observe(center, "hello", &seen);

        dn_center_unref(center);
        test_peer_post(peer, "hello");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        WAIT_UNTIL_EQ(test_peer_n_connections(peer, getpid()), 1);

        tally_drop(observer);
        WAIT_UNTIL_EQ(test_peer_n_connections(peer, getpid()), 0);
        CHECK_EQ(seen.n_destroyed, 1);
}

static test_bus *parting_bus;
static dn_observer *last_observer;
static _Atomic bool has_parted;

/* Leaves posts behind that the bus has not accepted yet. */
static void post_and_part(const dn_event *event, void *context)
{
        test_bus_pause(parting_bus);
        for (int i = 0; i < 1000000 && dn_flush(0) == 0; i++)
                post_ok(event->center, "filler");
        CHECK_EQ(dn_flush(0), -ETIMEDOUT);
        post_ok(event->center, "parting");
        last_observer = tally_drop(last_observer);
        has_parted = true;
}

TEST_ON_BUS(postsOfTheLastCallbackAreSentBeforeTheCenterCloses)
{
        parting_bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(parting_bus));
        test_child *child = spawn_observer("parting", NULL);
        dn_center *center = open_center("session");

        last_observer = observe_ok(center, "go", &(dn_handler){.invoke = post_and_part}, NULL);
        dn_center_unref(center);
        test_peer_post(peer, "go");
        WAIT_UNTIL(has_parted);
        test_bus_resume(parting_bus);
        WAIT_UNTIL_EQ(child_calls(child, 0), 1);
        WAIT_UNTIL_EQ(test_peer_n_connections(peer, getpid()), 0);
}

TEST_MAIN()
