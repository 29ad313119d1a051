/* Limits how often the events of a flood pass. */
#pragma once

#include <stdint.h>

#include "util/clock.h"

/* This many events in a row pass immediately, enough for a program that changes several things at
 * once. After that, an event waits for the rest of a millisecond: its receivers still hear of it
 * soon, and notifying them costs little compared with the event itself. */
#define DN__THROTTLE_N_EVENTS 8
#define DN__THROTTLE_SPAN_US (1 * DN__US_PER_MS)

/* Not locked: protected by its owner's lock. */
typedef struct dn__throttle {
        uint64_t end_us; /* of the span of the last event */
        unsigned n_events;
} dn__throttle;

/* Counts an event. Returns the time until which it must wait, or 0 if it may pass immediately. */
static inline uint64_t dn__throttle_count(dn__throttle *throttle, uint64_t now_us)
{
        if (now_us >= throttle->end_us)
                *throttle = (dn__throttle){ .end_us = now_us + DN__THROTTLE_SPAN_US };
        return throttle->n_events++ < DN__THROTTLE_N_EVENTS ? 0 : throttle->end_us;
}
