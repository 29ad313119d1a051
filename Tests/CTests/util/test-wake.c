/* Wakes a thread that sleeps on a word in memory. direct/test-ring.c tries each order of steps. */
#include "util/wake.h"

#include <pthread.h>

#include "test.h"
#include "util/clock.h"

static bool sleep_until(dn__wake_word *word, uint64_t until_us)
{
        uint32_t asleep = dn__wake_fall_asleep(word);

        return !asleep || dn__wake_stay_asleep(word, asleep, DN__WAKE_SHARED, until_us);
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
                CHECK(sleep_until(&word, DN__NEVER));
                CHECK(dn__wake_set_rung(&word));
                dn__wake_begin(&word);
                CHECK_EQ(dn__wake_state_of(word), DN__WAKE_AWAKE);
        }
}

static void *sleep_for_ever(void *word)
{
        dn__wake_begin(word);
        return sleep_until(word, DN__NEVER) ? word : NULL;
}

TEST_NO_BUS(nextRingWakesASleeperWithADamagedWord)
{
        for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
                dn__wake_word word = 0;
                void *result;

                pthread_t thread = test_start_thread(sleep_for_ever, &word);
                WAIT_UNTIL_EQ(dn__wake_state_of(word), DN__WAKE_ASLEEP);
                atomic_store(&word, damages[i]);
                dn__wake_ring(&word, DN__WAKE_SHARED);
                CHECK_EQ(pthread_join(thread, &result), 0);
                CHECK(result);
        }
}

TEST_MAIN()
