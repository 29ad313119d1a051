/* All functions on many threads at once. */
#include <pthread.h>
#include <stdlib.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define N_THREADS 8
#define STORM_MS 2000
#define N_CYCLES 100000

static _Atomic bool stop;
static _Atomic uint64_t n_made, n_destroyed, n_rounds;

static void count_nothing(const dn_event *event, void *context)
{
        (void)context;
        CHECK(event->n_posts > 0);
}

static void count_destroyed(void *context)
{
        n_destroyed++;
        free(context); /* a double free or use after free is reported by the sanitizer */
}

static dn_handler fresh_handler(void)
{
        n_made++;
        return (dn_handler){count_nothing, malloc(1), count_destroyed};
}

static void storm_round(dn_center *center, const char *name, unsigned round)
{
        dn_observer *observer = NULL;

        CHECK_EQ(dn_center_observe(center, name, fresh_handler(), NULL, &observer), 0);
        post_ok(center, name);
        if (round % 3 == 0) {
                dn_observer *next = NULL;
                CHECK_EQ(dn_observer_replace(observer, fresh_handler(), NULL, &next), 0);
                dn_observer_unref(observer);
                observer = next;
        }
        if (round % 2)
                dn_observer_cancel_wait(observer);
        else
                dn_observer_cancel(observer);
        dn_observer_unref(observer);
}

static void *storm(void *argument)
{
        unsigned number = *(unsigned *)argument;
        char name[32];

        for (unsigned round = 0; !stop; round++) {
                snprintf(name, sizeof name, "storm.%u", (number + round) % 5);
                storm_round(dn_center_darwin(), name, round);
                storm_round(dn_center_local(), name, round);
                n_rounds++;
        }
        return NULL;
}

TEST(noCallFollowsTheLastCancellationOfManyThreads)
{
        test_bus *bus = test_bus_begin();
        pthread_t threads[N_THREADS];
        unsigned numbers[N_THREADS];

        for (unsigned i = 0; i < N_THREADS; i++) {
                numbers[i] = i;
                CHECK_EQ(pthread_create(&threads[i], NULL, storm, &numbers[i]), 0);
        }
        test_let_pass_ms(STORM_MS);
        WAIT_UNTIL(n_rounds > N_THREADS);
        stop = true;
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        WAIT_UNTIL_EQ(n_destroyed, n_made);
        test_bus_stop(bus);
}

TEST_ON_BUS(registrationCyclesDestroyOnceAndLeaveNoRule)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        dn_center *center = dn_center_darwin();
        test_signal own;

        test_peer_watch(peer, TEST_WIRE_RULE);
        post_ok(center, "who");
        test_peer_next(peer, &own);
        for (int i = 0; i < N_CYCLES; i++) {
                dn_observer *observer = NULL;
                CHECK_EQ(dn_center_observe(center, "cycle", fresh_handler(), NULL, &observer), 0);
                tally_drop(observer);
        }
        WAIT_UNTIL_EQ(n_destroyed, N_CYCLES);
        if (test_peer_n_rules(peer, own.sender) < 0)
                SKIP("this bus does not tell how many rules it has");
        WAIT_UNTIL_EQ(test_peer_n_rules(peer, own.sender), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST(registrationCyclesDoNotLeakMemory)
{
        test_bus *bus = test_bus_begin();
        uint64_t early = 0;

        if (TEST_HAS_SANITIZER)
                SKIP("a sanitizer keeps what was freed");
        for (int i = 0; i < N_CYCLES; i++) {
                dn_observer *observer = NULL;
                CHECK_EQ(dn_center_observe(dn_center_darwin(), "cycle", fresh_handler(), NULL,
                                           &observer),
                         0);
                tally_drop(observer);
                if (i == N_CYCLES / 10)
                        early = test_resident_bytes();
        }
        CHECK(test_resident_bytes() < early + (4 << 20));
        test_bus_stop(bus);
}

TEST(manyObserversOfOneNameAllRun)
{
        test_bus *bus = test_bus_begin();
        static tally seen[10000];

        for (int i = 0; i < 10000; i++)
                tally_observe(dn_center_darwin(), "crowd", &seen[i]);
        post_elsewhere("crowd", 1, "return");
        for (int i = 0; i < 10000; i++)
                WAIT_UNTIL_EQ(seen[i].n_calls, 1);
        test_bus_stop(bus);
}

TEST_MAIN()
