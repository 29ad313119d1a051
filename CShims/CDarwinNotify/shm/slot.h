/* The slot of a name in the shared table: found, held, counted up. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shm/region.h"

/* Returns the slot of a name that some process holds or held, or NULL. Takes no lock; the slot may
 * pass to another name at any time, unless this process holds it. `hash` is dn__hash64() of the
 * name, which has 1 to 511 bytes. */
dn__shm_slot *dn__slot_find(const dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes);

/* Counts one post of a name that this process does not hold. Returns the generation it has, or 0
 * if there is no slot, or none any more. */
uint64_t dn__slot_count_post_of(const dn__region *region, uint64_t hash, const char *name,
                                size_t n_name_bytes);

/* Claims the slot of a name for this process, which keeps it until dn__slot_release(). A process
 * (a region) holds a name once. The state of a name that no other process holds is 0 then. Returns
 * NULL when its set is full, when there is no memory, or when another process does not finish with
 * the set: the caller then works without a slot. */
dn__shm_slot *dn__slot_hold(dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes);

/* Gives a slot of dn__slot_hold() back. NULL is allowed. */
void dn__slot_release(dn__region *region, dn__shm_slot *slot);

/* Counts one post and returns the generation it has. */
static inline uint64_t dn__slot_count_post(dn__shm_slot *slot)
{
        /* Sequentially consistent: who hears of the post by any road finds it counted. */
        return atomic_fetch_add(&slot->generation, 1) + 1;
}

static inline uint64_t dn__slot_get_generation(const dn__shm_slot *slot)
{
        return atomic_load(&slot->generation);
}
