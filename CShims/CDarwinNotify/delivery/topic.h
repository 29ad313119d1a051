/* One name of a center in this process. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "delivery/hub.h"
#include "table/slot.h"
#include "util/list.h"
#include "util/map.h"

/* --- What a check of a token compares ------------------------------------------------------- */

/* Until dn_shutdown() a counter is not freed, only reused for another name: readers check later
 * whether it still belongs to the right name. It continues from its old value, never decreasing. */
typedef struct dn__counter {
        _Atomic unsigned n_changes; /* of the slot */
        struct {
                _Atomic(dn__shm_slot *) slot; /* NULL: the name is not in shared memory */
                _Atomic uint64_t base;        /* what is added to its generation */
        } counts[2]; /* the last bit of `n_changes` says which is used; the other may be written */
        _Atomic uint64_t n_uncounted;  /* posts not counted by the slot */
        _Atomic uint64_t state;        /* of a name not in shared memory */
        struct dn__counter *next_free; /* protected by the hub's lock */
} dn__counter;

/* Returns a number that changes with each post. Async-signal-safe while the table stays mapped: a
 * change of the slot that it interrupts does not make it wait. */
static inline uint64_t dn__counter_get_posts(const dn__counter *counter)
{
        unsigned n_changes;
        uint64_t n_posts;

        do {
                const dn__shm_slot *slot;

                n_changes = atomic_load(&counter->n_changes);
                slot = atomic_load(&counter->counts[n_changes % 2].slot);
                n_posts = atomic_load(&counter->counts[n_changes % 2].base) +
                          (slot ? dn__slot_get_generation(slot) : 0);
        } while (atomic_load(&counter->n_changes) != n_changes);
        return atomic_load(&counter->n_uncounted) + n_posts;
}

static inline _Atomic uint64_t *dn__counter_state_at(dn__counter *counter)
{
        unsigned n_changes = atomic_load(&counter->n_changes);
        dn__shm_slot *slot = atomic_load(&counter->counts[n_changes % 2].slot);

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

/* The previous state becomes that of the slot, if the slot has none. `n_less`: how much smaller the
 * generation of the slot is than that of the previous one. */
static inline void dn__counter_set_slot(dn__counter *counter, dn__shm_slot *slot, uint64_t n_less)
{
        uint64_t state = slot ? atomic_exchange(&counter->state, 0) : 0, none = 0;
        unsigned n_changes = atomic_load(&counter->n_changes);
        uint64_t base = atomic_load(&counter->counts[n_changes % 2].base);

        if (state)
                (void)atomic_compare_exchange_strong(&slot->state, &none, state);
        atomic_store(&counter->counts[(n_changes + 1) % 2].slot, slot);
        atomic_store(&counter->counts[(n_changes + 1) % 2].base, base + n_less);
        atomic_store(&counter->n_changes, n_changes + 1);
}

/* --- Topics --------------------------------------------------------------------------------- */

typedef struct dn__topic {
        _Atomic unsigned n_refs;
        dn__hub *hub;        /* constant, owned */
        dn__name name;       /* constant; its text is `bytes`; empty: all names of a center */
        dn__map_entry entry; /* in the hub, until the topic is dropped */

        bool has_payloads; /* constant; posts are delivered separately, else only counted */

        size_t n_holds DN__HUB_GUARDED;       /* queues, calls about to add one, tokens */
        _Atomic unsigned n_releases;          /* how often nothing has held it since */
        dn__link prefix_link DN__HUB_GUARDED; /* in the hub, if the name is a prefix */
        dn__link idle_link DN__HUB_GUARDED; /* in the hub, while nothing holds the topic */
        uint64_t idle_until_us DN__HUB_GUARDED;
        bool is_refused DN__HUB_GUARDED; /* the bus refused its rule; is not kept idle */
        bool is_preparing DN__HUB_GUARDED;
        bool is_prepared DN__HUB_GUARDED; /* false if local, or not yet prepared */
        dn__subscription *subscription; /* on the bus; set once prepared, then constant; NULL:
                                         * there is none */
        dn__link queues DN__HUB_GUARDED; /* in order of creation */
        uint64_t sequence DN__HUB_GUARDED; /* of the last post in the queues; starts at 1 */
        uint64_t generation DN__HUB_GUARDED; /* how much of the slot is in the queues */
        dn__shm_slot *slot DN__HUB_GUARDED; /* NULL: no table counts posts of the name */
        dn__counter *counter DN__HUB_GUARDED; /* NULL: never requested */

        struct dn__topic *next_to_move; /* used by the thread that moves the hub */

        char bytes[];
} dn__topic;

/* Returns the topic of a name, or NULL. */
dn__topic *dn__topic_find(dn__hub *hub, const dn__name *name) DN__HUB_LOCKED;

/* Finds or creates the topic of a name and holds it. Returns NULL if out of memory. Takes the
 * lock. */
dn__topic *dn__topic_acquire(dn__hub *hub, const dn__name *name);

/* Releases a hold. A topic without holds stays idle for a second, so that registering and
 * cancelling in a loop does not talk to the bus each time. The caller keeps the hub. */
void dn__topic_release(dn__topic *topic) DN__HUB_LOCKED;

/* Releases a hold. Takes the lock. */
void dn__topic_give_back(dn__topic *topic);

/* Drops the idle topics that have expired. Takes the lock. */
void dn__topic_sweep(dn__hub *hub, uint64_t now_us);

void dn__topic_ref(dn__topic *topic);
void dn__topic_unref(dn__topic *topic);

/* Replaces a topic's slot, by NULL or by one with another count. notify_check() must not report a
 * post because the slot was replaced; the state goes with the topic. */
void dn__topic_set_slot(dn__topic *topic, dn__shm_slot *slot) DN__HUB_LOCKED;

/* Returns the counter of a held topic, borrowed while held, or NULL if out of memory. Takes the
 * lock. */
dn__counter *dn__topic_get_counter(dn__topic *topic);
