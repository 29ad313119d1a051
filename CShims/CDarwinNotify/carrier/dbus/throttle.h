/* Detects a flood of posts. */
#pragma once

#include <stdint.h>

#include "util/clock.h"

/* This many posts in a row are sent immediately, enough for a program that changes several things
 * at once. After that, a post waits for the rest of a millisecond: receivers still hear of it soon,
 * and the signal no longer costs much next to the work for each post. */
#define DN__THROTTLE_N_POSTS 8
#define DN__THROTTLE_SPAN_US (1 * DN__US_PER_MS)

/* Not locked: protected by its owner's lock. */
typedef struct dn__throttle {
        uint64_t end_us; /* of the span of the last post */
        unsigned n_posts;
} dn__throttle;

/* Counts a post. Returns the time until which it must wait, or 0 if it may be sent immediately. */
static inline uint64_t dn__throttle_count(dn__throttle *throttle, uint64_t now_us)
{
        if (now_us >= throttle->end_us)
                *throttle = (dn__throttle){ .end_us = now_us + DN__THROTTLE_SPAN_US };
        return throttle->n_posts++ < DN__THROTTLE_N_POSTS ? 0 : throttle->end_us;
}
