/* Data about a name that can be read without a lock: its post count and state. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "shm/slot.h"

/* A counter is never freed, only reused for another name: readers check afterwards whether it still
 * belongs to the right name. It continues from its old value and never decreases. */
typedef struct dn__counter {
        _Atomic(dn__shm_slot *) slot;  /* NULL: the name is not in shared memory */
        _Atomic uint64_t n_uncounted;  /* posts not counted by the slot */
        _Atomic uint64_t state;        /* of a name not in shared memory */
        struct dn__counter *next_free; /* protected by the hub's lock */
} dn__counter;

/* Returns a number that changes with each post. Async-signal-safe while the table stays mapped. */
static inline uint64_t dn__counter_get_posts(const dn__counter *counter)
{
        const dn__shm_slot *slot = atomic_load(&counter->slot);

        return atomic_load(&counter->n_uncounted) + (slot ? dn__slot_get_generation(slot) : 0);
}

static inline _Atomic uint64_t *dn__counter_state_at(dn__counter *counter)
{
        dn__shm_slot *slot = atomic_load(&counter->slot);

        return slot ? &slot->state : &counter->state;
}

static inline uint64_t dn__counter_get_state(dn__counter *counter)
{
        return atomic_load(dn__counter_state_at(counter));
}

/* The name may get its slot concurrently. */
static inline void dn__counter_set_state(dn__counter *counter, uint64_t state)
{
        _Atomic uint64_t *at;

        do {
                at = dn__counter_state_at(counter);
                atomic_store(at, state);
        } while (at != dn__counter_state_at(counter));
}

/* A name that gets its slot late copies its previous state into it, if the slot has none. */
static inline void dn__counter_set_slot(dn__counter *counter, dn__shm_slot *slot)
{
        uint64_t state = atomic_exchange(&counter->state, 0);

        if (slot && state) {
                uint64_t none = 0;

                (void)atomic_compare_exchange_strong(&slot->state, &none, state);
        }
        atomic_store(&counter->slot, slot);
}
