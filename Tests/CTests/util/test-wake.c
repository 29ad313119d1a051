/* Wakes a thread that sleeps on a word in memory. direct/test-ring.c tries each order of steps. */
#include "util/wake.h"

#include <pthread.h>

#include "test.h"
#include "util/clock.h"

static bool sleep_until(const dn__wake_target *target, uint64_t until_us)
{
        uint32_t asleep = dn__wake_fall_asleep(target->word);

        return !asleep || dn__wake_stay_asleep(target, asleep, until_us);
}

TEST_NO_BUS(onlyASleeperMustBeWoken)
{
        dn__wake_word word = 0;
        uint32_t rung;

        dn__wake_begin(&word);
        CHECK(!dn__wake_set_rung(&word));
        CHECK(!dn__wake_set_rung(&word));
        dn__wake_begin(&word);
        CHECK(dn__wake_fall_asleep(&word));
        rung = dn__wake_set_rung(&word);
        CHECK(rung);
        dn__wake_settle(&word, rung);
        CHECK(!dn__wake_set_rung(&word));
}

static const uint32_t damages[] = { 0, 1, 2, 3, 4711, UINT32_MAX, DN__WAKE_OURS << 1 };

TEST_NO_BUS(damageCountsAsARing)
{
        for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
                dn__wake_word word = 0;

                dn__wake_begin(&word);
                atomic_store(&word, damages[i]);
                CHECK(sleep_until(&(dn__wake_target){ .word = &word }, DN__NEVER));
                CHECK(dn__wake_set_rung(&word));
                dn__wake_begin(&word);
                CHECK_EQ(dn__wake_state_of(word), DN__WAKE_AWAKE);
        }
}

typedef struct sleeper {
        dn__wake_word word;
        dn__wake_target target;
        _Atomic unsigned n_wakes;
        _Atomic bool is_ending;
        pthread_t thread;
} sleeper;

static void *sleep_and_count(void *context)
{
        sleeper *sleeper = context;

        while (!sleeper->is_ending) {
                dn__wake_begin(&sleeper->word);
                sleeper->n_wakes++;
                (void)sleep_until(&sleeper->target, DN__NEVER);
        }
        return NULL;
}

/* Returns when it is asleep. */
static void start(sleeper *sleeper, _Atomic uint32_t *n_rings, unsigned i)
{
        sleeper->target = (dn__wake_target){ &sleeper->word, n_rings, UINT32_C(1) << i };
        sleeper->thread = test_start_thread(sleep_and_count, sleeper);
        WAIT_UNTIL_EQ(dn__wake_state_of(sleeper->word), DN__WAKE_ASLEEP);
}

static void end(sleeper *sleeper)
{
        sleeper->is_ending = true;
        (void)dn__wake_set_rung(&sleeper->word);
        dn__wake_rouse(&sleeper->target);
        CHECK_EQ(pthread_join(sleeper->thread, NULL), 0);
}

TEST_NO_BUS(nextRingWakesASleeperWithADamagedWord)
{
        _Atomic uint32_t n_rings = UINT32_MAX;

        for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
                sleeper alone = { 0 }, in_block = { 0 };

                start(&alone, NULL, 0);
                start(&in_block, &n_rings, 31);
                atomic_store(&alone.word, damages[i]);
                atomic_store(&in_block.word, damages[i]);
                dn__wake_ring(&alone.target);
                dn__wake_ring(&in_block.target);
                WAIT_UNTIL(alone.n_wakes > 1);
                WAIT_UNTIL(in_block.n_wakes > 1);
                end(&alone);
                end(&in_block);
        }
}

TEST_NO_BUS(aRingWakesOnlyTheSleepersOfABlockThatItNames)
{
        sleeper sleepers[3] = { 0 };
        _Atomic uint32_t n_rings = 0;

        for (unsigned i = 0; i < 3; i++)
                start(&sleepers[i], &n_rings, i);
        for (unsigned i = 0; i < 2; i++)
                CHECK(dn__wake_set_rung(&sleepers[i].word));
        dn__wake_rouse_block(&n_rings, 3);
        WAIT_UNTIL_EQ(sleepers[0].n_wakes, 2);
        WAIT_UNTIL_EQ(sleepers[1].n_wakes, 2);
        CHECK_EQ(sleepers[2].n_wakes, 1);
        CHECK_EQ(dn__wake_state_of(sleepers[2].word), DN__WAKE_ASLEEP);
        for (unsigned i = 0; i < 3; i++)
                end(&sleepers[i]);
}

TEST_MAIN()
