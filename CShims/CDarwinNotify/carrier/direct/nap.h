/* Lets the posts of a flood gather before a receiver looks again.
 *
 * A receiver that looks at once finds one post, sleeps, and is woken for the next: each post then
 * costs its poster a system call. While the receiver naps with its word awake, posters only count
 * and mark. To them it is a receiver that takes its time.
 *
 * Many looks in a row do not tell a flood from posts that are each waited for before the next one
 * is made, which no nap must slow down. So the first nap is a short trial: if more than one post
 * came meanwhile, nobody waits for each. */
#pragma once

#include <stdbool.h>

#include "util/throttle.h"

#define DN__NAP_TRIAL_US UINT64_C(50)
#define DN__NAP_TRIALS_EVERY_US (100 * DN__US_PER_MS)

/* All zero: no look so far. Used by one thread. */
typedef struct dn__nap {
        dn__throttle looks;
        uint64_t until_us; /* the end of the last nap, or of the next one */
        uint64_t trial_us; /* the earliest time of the next trial */
        bool is_due;       /* nap before looking again */
        bool is_over;      /* no look has found a post since the last nap */
        bool was_flood;    /* many posts came during the last nap */
} dn__nap;

static inline void dn__nap_judge(dn__nap *nap, uint64_t n_posts, uint64_t now_us)
{
        if (!nap->is_over)
                return;
        nap->is_over = false;
        nap->was_flood = n_posts > 1;
        if (!nap->was_flood)
                nap->trial_us = now_us + DN__NAP_TRIALS_EVERY_US;
}

/* Counts a look that found this many new posts. */
static inline void dn__nap_note(dn__nap *nap, uint64_t n_posts)
{
        uint64_t now_us, end_us;

        if (!n_posts)
                return;
        now_us = dn__clock_now_us();
        dn__nap_judge(nap, n_posts, now_us);
        end_us = dn__throttle_count(&nap->looks, now_us);
        if (!end_us)
                return;
        if (nap->was_flood && now_us < nap->until_us + DN__THROTTLE_SPAN_US) {
                nap->until_us = end_us;
                nap->is_due = true;
        } else if (now_us >= nap->trial_us) {
                nap->until_us = now_us + DN__NAP_TRIAL_US;
                nap->is_due = true;
        }
}

/* Sleeps if there is a flood. */
static inline void dn__nap_take(dn__nap *nap)
{
        if (!nap->is_due)
                return;
        dn__clock_sleep_until(nap->until_us);
        nap->is_due = false;
        nap->is_over = true;
}
