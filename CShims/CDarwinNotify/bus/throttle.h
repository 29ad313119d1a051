/* Finds a flood of posts. */
#pragma once

#include <stdint.h>

#include "util/clock.h"

/* So many posts in a row go at once, as those of a program that changes several things do. Then a
 * millisecond has to pass: a receiver that is told once in that time is still told soon, and the
 * signal no longer counts beside what is done for each post. */
#define DN__THROTTLE_N_POSTS 8
#define DN__THROTTLE_SPAN_US (1 * DN__US_PER_MS)

/* Not locked: its owner has a lock. */
typedef struct dn__throttle {
        uint64_t end_us; /* of the span that the last post fell into */
        unsigned n_posts;
} dn__throttle;

/* Counts a post. Returns until when it has to wait, or 0 if it may go at once. */
static inline uint64_t dn__throttle_count(dn__throttle *throttle, uint64_t now_us)
{
        if (now_us >= throttle->end_us)
                *throttle = (dn__throttle){ .end_us = now_us + DN__THROTTLE_SPAN_US };
        return throttle->n_posts++ < DN__THROTTLE_N_POSTS ? 0 : throttle->end_us;
}
