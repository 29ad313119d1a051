/* Wakes a thread that sleeps on a word in memory. direct/test-ring.c tries each order of steps. */
#include "util/wake.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test-child.h"
#include "test.h"
#include "util/clock.h"

TEST_NO_BUS(sleepsUntilItsDeadline)
{
        dn__wake_word word = 0;
        uint64_t until_us = dn__clock_after_us(20 * DN__US_PER_MS);

        dn__wake_begin(&word);
        CHECK(!dn__wake_sleep(&word, DN__WAKE_SHARED, until_us));
        CHECK(dn__clock_now_us() >= until_us);
}

TEST_NO_BUS(ringSinceBeginKeepsItAwake)
{
        dn__wake_word word = 0;

        dn__wake_begin(&word);
        dn__wake_ring(&word, DN__WAKE_SHARED);
        CHECK(dn__wake_sleep(&word, DN__WAKE_SHARED, DN__NEVER));
        CHECK_EQ(dn__wake_state_of(word), DN__WAKE_RUNG);

        /* Only dn__wake_begin() forgets it. */
        dn__wake_begin(&word);
        CHECK(!dn__wake_sleep(&word, DN__WAKE_SHARED, dn__clock_now_us()));
}

TEST_NO_BUS(onlyASleeperMustBeWoken)
{
        dn__wake_word word = 0;
        uint32_t mark;

        dn__wake_begin(&word);
        CHECK(!dn__wake_mark(&word));
        CHECK(!dn__wake_mark(&word));
        dn__wake_begin(&word);
        CHECK(dn__wake_fall_asleep(&word));
        mark = dn__wake_mark(&word);
        CHECK(mark);
        dn__wake_settle(&word, mark);
        CHECK(!dn__wake_mark(&word));
}

static const uint32_t damages[] = { 0, 1, 2, 3, 4711, UINT32_MAX, DN__WAKE_OURS << 1 };

TEST_NO_BUS(damageCountsAsARing)
{
        for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
                dn__wake_word word = 0;

                dn__wake_begin(&word);
                atomic_store(&word, damages[i]);
                CHECK(dn__wake_sleep(&word, DN__WAKE_SHARED, DN__NEVER));
                CHECK(dn__wake_mark(&word));
                dn__wake_begin(&word);
                CHECK_EQ(dn__wake_state_of(word), DN__WAKE_AWAKE);
        }
}

static void *sleep_for_ever(void *word)
{
        dn__wake_begin(word);
        return dn__wake_sleep(word, DN__WAKE_SHARED, DN__NEVER) ? word : NULL;
}

TEST_NO_BUS(nextRingWakesASleeperWithADamagedWord)
{
        for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
                dn__wake_word word = 0;
                pthread_t thread;
                void *result;

                CHECK_EQ(pthread_create(&thread, NULL, sleep_for_ever, &word), 0);
                WAIT_UNTIL_EQ(dn__wake_state_of(word), DN__WAKE_ASLEEP);
                atomic_store(&word, damages[i]);
                dn__wake_ring(&word, DN__WAKE_SHARED);
                CHECK_EQ(pthread_join(thread, &result), 0);
                CHECK(result);
        }
}

enum { N_RINGERS = 4, N_RINGS = 20000 };

typedef struct flood {
        dn__wake_word word;
        _Atomic unsigned n_left; /* the work that a ring announces */
        _Atomic unsigned n_taken;
} flood;

static void *leave_work(void *context)
{
        flood *flood = context;

        for (int i = 0; i < N_RINGS; i++) {
                atomic_fetch_add(&flood->n_left, 1);
                dn__wake_ring(&flood->word, DN__WAKE_SHARED);
                /* Lets the sleeper fall asleep occasionally. */
                if (i % 64 == 0)
                        (void)usleep(20);
        }
        return NULL;
}

/* No deadline: a lost ring ends the case by its time limit. */
static void take_all(flood *flood)
{
        while (atomic_load(&flood->n_taken) < N_RINGERS * N_RINGS) {
                dn__wake_begin(&flood->word);
                atomic_fetch_add(&flood->n_taken, atomic_exchange(&flood->n_left, 0));
                if (atomic_load(&flood->n_taken) < N_RINGERS * N_RINGS)
                        CHECK(dn__wake_sleep(&flood->word, DN__WAKE_SHARED, DN__NEVER));
        }
}

TEST_NO_BUS(anotherProcessRingsThroughSharedMemory)
{
        flood *flood = mmap(NULL, sizeof(*flood), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t children[N_RINGERS];

        CHECK(flood != MAP_FAILED);
        for (int i = 0; i < N_RINGERS; i++) {
                children[i] = test_fork();
                if (children[i] == 0) {
                        (void)leave_work(flood);
                        _exit(0);
                }
        }
        take_all(flood);
        for (int i = 0; i < N_RINGERS; i++)
                CHECK_EQ(test_wait_for(children[i]), 0);
        CHECK_EQ(flood->n_taken, N_RINGERS * N_RINGS);
}

TEST_MAIN()
