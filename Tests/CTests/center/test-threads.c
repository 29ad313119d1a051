/* All functions on many threads at once. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "util/thread.h"

#define N_THREADS 8
#define N_ROUNDS 300
#define N_CYCLES 20000

static _Atomic uint64_t n_made, n_destroyed, n_calls;

static void count_call(const dn_event *event, void *context)
{
        CHECK(event->n_posts > 0);
        n_calls++;
}

static void count_destroyed(void *context)
{
        n_destroyed++;
        free(context); /* a double free or use after free is reported by the sanitizer */
}

static void *make_context(void)
{
        n_made++;
        return malloc(1);
}

#define FRESH_HANDLER()                                                                            \
        (&(dn_handler){.invoke = count_call, .context = make_context(), .destroy = count_destroyed})

/* One round; each of eight threads runs many. */
static void (*busy_round)(const char *name, void *thread, unsigned round);

static void *be_busy(void *argument)
{
        unsigned number = *(unsigned *)argument;

        for (unsigned round = 0; round < N_ROUNDS; round++)
                busy_round(FORMAT("busy.%u", (number + round) % 5), argument, round);
        return NULL;
}

static void run_busy_threads(void (*round)(const char *name, void *thread, unsigned round))
{
        pthread_t threads[N_THREADS];
        unsigned numbers[N_THREADS];

        busy_round = round;
        for (unsigned i = 0; i < N_THREADS; i++) {
                numbers[i] = i;
                threads[i] = test_start_thread(be_busy, &numbers[i]);
        }
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        WAIT_UNTIL_EQ(n_destroyed, n_made);
}

static void cancel(dn_observer *observer, unsigned round)
{
        (round % 2 ? dn_observer_cancel_wait : dn_observer_cancel)(observer);
        dn_observer_unref(observer);
}

static void use_center(dn_center *center, const char *name, unsigned round)
{
        dn_observer *observer = NULL;

        CHECK_EQ(dn_center_observe(center, name, FRESH_HANDLER(), NULL, &observer), 0);
        post_ok(center, name);
        if (round % 3 == 0) {
                dn_observer *next = NULL;
                CHECK_EQ(dn_observer_replace(observer, FRESH_HANDLER(), NULL, &next), 0);
                dn_observer_unref(observer);
                observer = next;
        }
        cancel(observer, round);
}

static void use_darwin_and_local(const char *name, void *thread, unsigned round)
{
        use_center(dn_center_darwin(), name, round);
        use_center(dn_center_local(), name, round);
}

TEST(noCallFollowsTheLastCancellationOfManyThreads)
{
        test_bus_begin();
        run_busy_threads(use_darwin_and_local);
}

/* Eight threads post faster than a bus reads. */
static void post_or_be_refused(const char *name, const char *object, unsigned round)
{
        int r = try_post_number(dn_center_distributed(), name, object, round);

        CHECK(r == 0 || r == -ENOBUFS);
}

static void count_callback(dn_center *center, void *observer, const char *name, const void *object,
                           const dn_dict *user_info)
{
        CHECK(dn_dict_get_int64(user_info, "i", -1) >= 0);
        n_calls++;
}

static void use_distributed(const char *name, void *thread, unsigned round)
{
        dn_center *center = dn_center_distributed();
        const char *object = round % 2 ? "x" : NULL;
        int behavior = (int)(round % 4) + 1;
        dn_filter filter = {.name = name, .object = object, .behavior = behavior};
        dn_observer *observer = NULL;

        if (round % 5 == 0)
                filter = (dn_filter){.prefix = "busy.", .behavior = behavior};
        CHECK_EQ(dn_center_observe_filtered(center, &filter, FRESH_HANDLER(), NULL, &observer), 0);
        CHECK_EQ(dn_center_add_observer(center, thread, count_callback, name, object, behavior), 0);
        post_or_be_refused(name, object, round);
        CHECK_EQ(dn_center_set_suspended(center, round % 3 == 0), 0);
        cancel(observer, round);
        CHECK_EQ(dn_center_remove_every_observer(center, thread), 0);
}

/* Returns once all posts of this process have come back and have been delivered. */
static void fence_distributed(void)
{
        static tally seen;
        uint64_t n_before = seen.n_calls;
        dn_observer *observer = tally_observe(dn_center_distributed(), "fence", &seen);

        WAIT_UNTIL_EQ(try_post_number(dn_center_distributed(), "fence", NULL, 0), 0);
        WAIT_UNTIL(seen.n_calls > n_before); /* a post that the full queue refused has also come */
        tally_drop(observer);
}

TEST_ON_BUS(noCallFollowsTheLastRemovalOfManyThreads)
{
        static tally all;
        dn_observer *observer = NULL;

        test_bus_begin();
        dn_center *center = dn_center_distributed();
        await_bus(center);
        CHECK_EQ(dn_center_observe_prefix(center, "busy.", TALLY_HANDLER(&all), NULL, &observer),
                 0);
        run_busy_threads(use_distributed);
        CHECK_EQ(dn_center_set_suspended(center, false), 0);
        /* Afterwards, calls that were running when a callback removed their observer are over. */
        fence_distributed();
        CHECK(all.n_calls > 0);
        tally_drop(observer);
        uint64_t n_before = n_calls;
        for (unsigned i = 0; i < 5; i++)
                post_or_be_refused("busy.0", "x", i);
        fence_distributed();
        CHECK_EQ(n_calls, n_before);
}

TEST(registrationCyclesDestroyOnceAndLeaveNeitherRulesNorMemory)
{
        test_peer *peer = test_peer_begin();
        dn_center *center = dn_center_darwin();
        uint64_t early = 0;
        test_signal own;

        for (int i = 0; i < N_CYCLES; i++) {
                dn_observer *observer = NULL;
                CHECK_EQ(dn_center_observe(center, "cycle", FRESH_HANDLER(), NULL, &observer), 0);
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
                tally_observe(dn_center_darwin(), "N", &seen[i]);
        post_elsewhere("N", 1, "return");
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
        CHECK_EQ(sem_wait(&way_out), 0);
}

static void end_slowly(void *context)
{
        CHECK_EQ(pthread_setspecific(at_end, context), 0);
}

/* Each center has a thread of its own, which ends after the center was closed. One thread of the
 * library takes long to end, as any may on a busy machine: the others must not wait for it. */
TEST_NO_BUS(threadsOfTenThousandCentersDoNotPileUp)
{
        CHECK_EQ(sem_init(&way_out, 0, 0), 0);
        CHECK_EQ(pthread_key_create(&at_end, wait_at_end), 0);
        CHECK_EQ(dn__thread_start("dn-under-test", end_slowly, &way_out), 0);
        for (int i = 0; i < N_CENTERS; i++) {
                dn_center *center = open_center("unix:path=/nonexistent/bus");

                (void)dn_center_post(center, "org.example.piled", NULL, NULL, 0);
                dn_center_unref(center);
                if (i % 100 == 0)
                        WAIT_UNTIL(test_n_threads() < MAX_THREADS);
        }
        CHECK(test_n_mappings_of(getpid(), "") < 5 * MAX_THREADS);
        CHECK_EQ(sem_post(&way_out), 0);
}

TEST_MAIN()
