/* All functions on many threads at once. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "util/thread.h"

#define N_THREADS 8
#define N_ROUNDS 300
#define N_CYCLES 20000

static _Atomic uint64_t n_made, n_destroyed;

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

        for (unsigned round = 0; round < N_ROUNDS; round++) {
                snprintf(name, sizeof name, "storm.%u", (number + round) % 5);
                storm_round(dn_center_darwin(), name, round);
                storm_round(dn_center_local(), name, round);
        }
        return NULL;
}

TEST(noCallFollowsTheLastCancellationOfManyThreads)
{
        test_bus_begin();
        pthread_t threads[N_THREADS];
        unsigned numbers[N_THREADS];

        for (unsigned i = 0; i < N_THREADS; i++) {
                numbers[i] = i;
                CHECK_EQ(pthread_create(&threads[i], NULL, storm, &numbers[i]), 0);
        }
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        WAIT_UNTIL_EQ(n_destroyed, n_made);
}

TEST(registrationCyclesDestroyOnceAndLeaveNeitherRulesNorMemory)
{
        test_peer *peer = test_peer_begin();
        dn_center *center = dn_center_darwin();
        uint64_t early = 0;
        test_signal own;

        for (int i = 0; i < N_CYCLES; i++) {
                dn_observer *observer = NULL;
                CHECK_EQ(dn_center_observe(center, "cycle", fresh_handler(), NULL, &observer), 0);
                tally_drop(observer);
                if (i == N_CYCLES / 10)
                        early = test_resident_bytes();
        }
        WAIT_UNTIL_EQ(n_destroyed, N_CYCLES);
        CHECK(TEST_HAS_SANITIZER || test_resident_bytes() < early + (1 << 20));
        if (!test_peer_is_on_bus(peer))
                return;
        post_ok(center, "who");
        test_peer_next(peer, &own);
        if (test_peer_n_rules(peer, own.sender) >= 0)
                WAIT_UNTIL_EQ(test_peer_n_rules(peer, own.sender), 0);
}

TEST(manyObserversOfOneNameAllRun)
{
        test_bus_begin();
        static tally seen[10000];

        for (int i = 0; i < 10000; i++)
                tally_observe(dn_center_darwin(), "crowd", &seen[i]);
        post_elsewhere("crowd", 1, "return");
        for (int i = 0; i < 10000; i++)
                WAIT_UNTIL_EQ(seen[i].n_calls, 1);
}

#define N_CENTERS 10000
/* Those of the last centers, which may not have had a processor since these were closed. */
#define MAX_THREADS 100

static sem_t way_out;
static pthread_key_t at_end;

static void wait_at_end(void *context)
{
        (void)context;
        CHECK_EQ(sem_wait(&way_out), 0);
}

static void end_slowly(void *context)
{
        CHECK_EQ(pthread_setspecific(at_end, context), 0);
}

static unsigned n_mappings(void)
{
        FILE *file = fopen("/proc/self/maps", "re");
        unsigned n = 0;
        int c;

        CHECK(file);
        while ((c = getc(file)) != EOF)
                n += c == '\n';
        fclose(file);
        return n;
}

/* Each center has a thread of its own, which ends after the center was closed. One thread of the
 * library takes long to end, as any may on a busy machine: the others must not wait for it. */
TEST_NO_BUS(threadsOfTenThousandCentersDoNotPileUp)
{
        CHECK_EQ(sem_init(&way_out, 0, 0), 0);
        CHECK_EQ(pthread_key_create(&at_end, wait_at_end), 0);
        CHECK_EQ(dn__thread_start("dn-under-test", end_slowly, &way_out), 0);
        for (int i = 0; i < N_CENTERS; i++) {
                dn_center *center;

                CHECK_EQ(dn_center_open("unix:path=/nonexistent/bus", &center), 0);
                (void)dn_center_post(center, "org.example.piled", NULL, NULL, 0);
                dn_center_unref(center);
                if (i % 100 == 0)
                        WAIT_UNTIL(test_n_threads() < MAX_THREADS);
        }
        CHECK(n_mappings() < 5 * MAX_THREADS);
        CHECK_EQ(sem_post(&way_out), 0);
}

TEST_MAIN()
