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

/* Follows a table in which the process has an entry and reads the counts of its names; the last
 * `n_left` posts of each name remain to be handed on. Returns NULL if out of memory. */
dn__prefix_counts *dn__prefix_follow(dn__region *region, uint64_t n_left);

/* Gives the counts to the hub until no prefix is left; frees them if it has some or needs none. */
void dn__prefix_use(dn__hub *hub, dn__prefix_counts *counts) DN__HUB_LOCKED;

/* Follows the hub's table, if it has an entry there. Call while a prefix is held. Returns 0 or
 * -ENOMEM. */
int dn__prefix_begin(dn__hub *hub);

/* Hands on a post of this process, once counted, or a received one: as many as the table has
 * counted of its name and were not handed on; as one if the table does not count it. `payload` is a
 * copy, or NULL if there was no memory. Returns how many were new. */
uint64_t dn__prefix_hand(dn__hub *hub, const dn__post *post, dn__payload *payload)
        DN__HUB_LOCKED;

/* Hands on what the table has counted of any name; `left` has the counts of a table that was left,
 * or NULL. Call without any lock held. */
void dn__prefix_missed(dn__hub *hub, dn__prefix_counts *left);
