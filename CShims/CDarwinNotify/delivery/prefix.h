/* Notifies observers of a prefix of every name that the table counts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "delivery/hub.h"
#include "delivery/queue.h"

/* How many posts of each slot the observers of prefixes have been given. Protected by the hub's
 * lock. */
typedef struct dn__prefix_counts {
        dn__region *region; /* borrowed */
        uint64_t given[DN__SHM_N_SLOTS];
} dn__prefix_counts;

/* Follows the hub's table for its prefixes, until none is left, if it has an entry there and does
 * not follow it yet. Returns 1 if it has begun, 0 if there is nothing to do, or -ENOMEM. */
int dn__prefix_begin(dn__hub *hub);

/* Delivers a received post, or one of this process after it was counted. If the table counts it,
 * delivers all undelivered posts of its name along with it; otherwise it alone. `payload` is a
 * copy, or NULL if there was no memory. Returns how many posts were new. */
uint64_t dn__prefix_hand(dn__hub *hub, const dn__post *post, dn__payload *payload)
        DN__HUB_LOCKED;

/* Delivers what the table has counted of any name. Call without any lock held. */
void dn__prefix_missed(dn__hub *hub);

/* The same, but at least one post of each name in the table or in the stale ones before it. */
void dn__prefix_hand_all(dn__hub *hub);
