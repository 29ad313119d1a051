/* The slot of a name in the shared table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "post/name.h"
#include "table/region.h"
#include "util/clock.h"

/* Returns the slot of a name that is or was held, or NULL. Takes no lock; the slot may pass to
 * another name at any time unless this process holds it. The name has 1 to 511 bytes. */
dn__shm_slot *dn__slot_find(const dn__region *region, const dn__name *name);

/* Counts a post in a slot that this process need not hold. Returns its generation, or 0 if the slot
 * has passed to another name. */
uint64_t dn__slot_count_for_others(const dn__region *region, dn__shm_slot *slot,
                                   const dn__name *name);

#define DN__SLOT_NAME_BYTES (DN__SHM_NAME_WORDS * sizeof(uint64_t) + 1)

/* Reads the name of a slot. Returns false if it has none, or an impossible one. The slot may have
 * another name by the time the result is used, and the name need not be UTF-8. */
bool dn__slot_read_name(const dn__region *region, size_t index, char ret_text[DN__SLOT_NAME_BYTES],
                        dn__name *ret_name);

/* How long a registration waits for a process that changes the set of its name. No call of the
 * library waits for more than a second. */
#define DN__SLOT_TIMEOUT_US (900 * DN__US_PER_MS)

/* Claims the slot of a name, until dn__slot_release(), for this process, which has an entry. A
 * process (a region) holds a name at most once. If no other process holds the name, its state
 * becomes 0. Returns NULL if the set is full, memory is exhausted, or another process was changing
 * the set until the deadline: the caller then works without a slot and asks again later. */
dn__shm_slot *dn__slot_hold(dn__region *region, const dn__name *name, uint64_t deadline_us);

/* Releases a slot of dn__slot_hold(). NULL is allowed. */
void dn__slot_release(dn__region *region, dn__shm_slot *slot);

/* Records that the name is posted now, before the post is counted, so that a process that hears of
 * several names at once can see which was posted first. */
static inline void dn__slot_note_time(dn__shm_slot *slot)
{
        atomic_store_explicit(&slot->posted_ns, dn__clock_now_ns(), memory_order_relaxed);
}

/* Counts one post and returns its generation. */
static inline uint64_t dn__slot_count_post(dn__shm_slot *slot)
{
        dn__slot_note_time(slot);
        /* Sequentially consistent: a process that hears of the post, by any path, finds it
         * counted. */
        return atomic_fetch_add(&slot->generation, 1) + 1;
}

static inline uint64_t dn__slot_get_generation(const dn__shm_slot *slot)
{
        return atomic_load(&slot->generation);
}
