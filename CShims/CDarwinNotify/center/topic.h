/* One name of a center: its observers and its post count. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "center/carriers.h"
#include "center/counter.h"
#include "center/hub.h"
#include "shm/slot.h"
#include "util/list.h"
#include "util/map.h"

typedef struct dn__topic {
        _Atomic unsigned n_refs;
        dn__hub *hub;        /* constant, owned */
        dn__name name;       /* constant; its text is `bytes`; empty: all names of a center */
        dn__map_entry entry; /* in the hub, until the topic is retired */

        size_t n_holds DN__HUB_GUARDED;       /* inboxes, calls about to add one, tokens */
        dn__link prefix_link DN__HUB_GUARDED; /* in the hub, if the name is a prefix */
        dn__link linger_link DN__HUB_GUARDED; /* in the hub, while nothing holds the topic */
        uint64_t linger_until_us DN__HUB_GUARDED;
        bool is_refused DN__HUB_GUARDED; /* no carrier has room; need not linger */
        bool is_preparing DN__HUB_GUARDED;
        bool is_watched DN__HUB_GUARDED; /* false if local, or not yet watched */
        dn__watches watches; /* set once watched; constant until the topic is retired */
        dn__link inboxes DN__HUB_GUARDED; /* in order of creation */
        uint64_t sequence DN__HUB_GUARDED; /* of the last post in the inboxes; starts at 1 */
        uint64_t generation DN__HUB_GUARDED; /* how much of the slot is in the inboxes */
        dn__shm_slot *slot DN__HUB_GUARDED; /* NULL: no table counts posts of the name */
        dn__counter *counter DN__HUB_GUARDED; /* NULL: never requested */
        char bytes[];
} dn__topic;

/* Returns the topic of a name, or NULL. */
dn__topic *dn__topic_find(dn__hub *hub, const dn__name *name) DN__HUB_LOCKED;

/* Finds or creates the topic of a name and holds it. Returns NULL if out of memory. */
dn__topic *dn__topic_acquire(dn__hub *hub, const dn__name *name) DN__HUB_LOCKED;

/* Releases a hold. A topic without holds lingers, so that registering and cancelling in a loop does
 * not talk to the bus each time. Returns a topic to retire without the lock, or NULL. */
dn__topic *dn__topic_release(dn__topic *topic) DN__HUB_LOCKED;

/* Releases a hold. Takes the lock. */
void dn__topic_give_back(dn__topic *topic);

/* Releases the resources of a topic already removed from the hub. Call without any lock held. NULL
 * is allowed. */
void dn__topic_retire(dn__topic *topic);

/* Retires topics that have lingered long enough. Call without any lock held. */
void dn__topic_sweep(dn__hub *hub, uint64_t now_us);

void dn__topic_ref(dn__topic *topic);
void dn__topic_unref(dn__topic *topic);

/* Sets or removes a topic's slot. */
void dn__topic_set_slot(dn__topic *topic, dn__shm_slot *slot) DN__HUB_LOCKED;

/* Replaces a topic's slot. `continues`: the count of the new one continues that of the old one. A
 * check of a token sees no difference that is no post. */
void dn__topic_change_slot(dn__topic *topic, dn__shm_slot *slot, bool continues) DN__HUB_LOCKED;

/* Returns the counter of a held topic, borrowed while held, or NULL if out of memory. Takes the
 * lock. */
dn__counter *dn__topic_get_counter(dn__topic *topic);
