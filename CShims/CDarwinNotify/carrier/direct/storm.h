/* Bounds the cost of wake-ups in vain.
 *
 * Any process of the user may ring this one, mark names for it or damage its word without a post,
 * as often as it likes. Each time the thread looks, finds nothing and sleeps again, which could
 * take a whole processor. So looks that find nothing are paid from a budget. When it is spent
 * early, the thread pauses until a new one is due. To posters it looks like a receiver that takes
 * its time, as in a nap (nap.h).
 *
 * Posts come with some wake-ups in vain: a receiver may be faster than the poster's ring, or hear
 * of a post in another way first. So each find pays for a few. The clock is read only when a budget
 * is spent. */
#pragma once

#include "util/clock.h"

/* A wake-up takes some 5 us, system calls included, so all of them take 3 % of the time. */
#define DN__STORM_BUDGET 32
#define DN__STORM_SPAN_US (5 * DN__US_PER_MS)

/* Bounds how late a post is heard when each look is costly, because many names are marked. */
#define DN__STORM_PAUSE_MAX_US (100 * DN__US_PER_MS)

/* How many wake-ups in vain a find pays for. */
#define DN__STORM_FIND_PAYS 4

/* All zero: nothing spent. Used by one thread. */
typedef struct dn__storm {
        uint64_t since_us; /* the beginning of this budget */
        uint64_t n_spent;  /* of it, in wake-ups */
} dn__storm;

/* Begins a new budget. Returns when the pause is to end, which may be in the past. */
static inline uint64_t dn__storm_renew(dn__storm *storm, uint64_t now_us)
{
        uint64_t span_us = storm->n_spent / DN__STORM_BUDGET * DN__STORM_SPAN_US;
        uint64_t end_us = storm->since_us + span_us;

        if (end_us > now_us + DN__STORM_PAUSE_MAX_US)
                end_us = now_us + DN__STORM_PAUSE_MAX_US;
        *storm = (dn__storm){ .since_us = end_us > now_us ? end_us : now_us };
        return end_us;
}

/* Notes how many posts or works were found, and the cost of everything else that was looked at, in
 * wake-ups. Pauses if that was too much. */
static inline void dn__storm_note(dn__storm *storm, uint64_t n_finds, uint64_t n_wakes)
{
        uint64_t n_paid = n_finds * DN__STORM_FIND_PAYS;
        uint64_t now_us, end_us;

        storm->n_spent += n_wakes;
        storm->n_spent -= n_paid < storm->n_spent ? n_paid : storm->n_spent;
        if (storm->n_spent < DN__STORM_BUDGET)
                return;
        now_us = dn__clock_now_us();
        end_us = dn__storm_renew(storm, now_us);
        if (end_us > now_us)
                dn__clock_sleep_until(end_us);
}
