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

/* Follows all names of the table until no prefix is left, if the hub has an entry there. Call while
 * a prefix is held. Returns 0 or -ENOMEM. */
int dn__prefix_begin(dn__hub *hub);

/* Follows the names of the table to which the hub moves instead, once more from the last post of
 * each. Sets the counts of the table that was left, or NULL, for the caller to give to
 * dn__prefix_missed() and to free. Returns false if out of memory; ask again. */
bool dn__prefix_move(dn__hub *hub, dn__region *to, dn__prefix_counts **ret_left) DN__HUB_LOCKED;

/* Hands on a post of this process, once counted, or a received one: as many as the table has
 * counted of its name and were not handed on; as one if the table does not count it. `payload` is a
 * copy, or NULL if there was no memory. Returns how many were new. */
uint64_t dn__prefix_hand(dn__hub *hub, const dn__post *post, dn__payload *payload)
        DN__HUB_LOCKED;

/* Hands on what the table has counted of any name; `left` has the counts of a table that was left,
 * or NULL. Call without any lock held. */
void dn__prefix_missed(dn__hub *hub, dn__prefix_counts *left);
