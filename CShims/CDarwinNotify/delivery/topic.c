/* One name of a center in this process. */
#include "delivery/topic.h"

#include <assert.h>
#include <stdlib.h>

#include "direct/ring.h"
#include "util/clock.h"

/* How long the rule of a name stays after its last observer or token. */
#define IDLE_US (1 * DN__US_PER_SECOND)

/* Maximum number of idle names: a program that observes a new name for each request must not
 * reach the bus's limit because of them. */
#define IDLE_MAX 256

void dn__topic_ref(dn__topic *topic)
{
        atomic_fetch_add_explicit(&topic->n_refs, 1, memory_order_relaxed);
}

void dn__topic_unref(dn__topic *topic)
{
        if (!topic || atomic_fetch_sub_explicit(&topic->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        dn__hub_unref(topic->hub);
        free(topic);
}

/* --- Lookup and holds ---------------------------------------------------------------------- */

dn__topic *dn__topic_find(dn__hub *hub, const dn__name *name)
{
        dn__map_entry *entry = dn__map_find(&hub->topics, name->hash, name->text, name->n_bytes);

        return entry ? DN__CONTAINER(entry, dn__topic, entry) : NULL;
}

static dn__topic *topic_new(dn__hub *hub, const dn__name *name) DN__HUB_LOCKED
{
        dn__topic *topic = calloc(1, sizeof(*topic) + name->n_bytes + 1);

        if (!topic)
                return NULL;
        atomic_init(&topic->n_refs, 1);
        topic->name = dn__name_copy(name, topic->bytes);
        topic->hub = hub;
        topic->sequence = 1;
        topic->has_payloads = name->is_private
                                      ? !dn__name_is_bus(name)
                                      : hub->center->ops->is_queued || name->is_prefix;
        topic->entry = (dn__map_entry){ NULL, name->hash, topic->bytes, name->n_bytes };
        dn__list_init(&topic->queues);
        dn__hub_ref(hub);
        return topic;
}

static dn__topic *find_or_add(dn__hub *hub, const dn__name *name) DN__HUB_LOCKED
{
        dn__topic *topic = dn__topic_find(hub, name);

        if (topic)
                return topic;
        topic = topic_new(hub, name);
        if (!topic || dn__map_add(&hub->topics, &topic->entry) < 0) {
                dn__topic_unref(topic);
                return NULL;
        }
        if (name->is_prefix) {
                dn__list_append(&hub->prefixes, &topic->prefix_link);
                atomic_fetch_add(&hub->n_prefixes, 1);
        }
        return topic;
}

static void end_idleness(dn__topic *topic) DN__HUB_LOCKED
{
        if (!dn__link_is_linked(&topic->idle_link))
                return;
        dn__list_remove(&topic->idle_link);
        topic->hub->n_idle--;
}

dn__topic *dn__topic_acquire(dn__hub *hub, const dn__name *name)
{
        dn__topic *topic;

        DN__HUB_AUTO_LOCK(hub);
        topic = find_or_add(hub, name);
        if (!topic)
                return NULL;
        topic->n_holds++;
        end_idleness(topic);
        return topic;
}

void dn__topic_set_slot(dn__topic *topic, dn__shm_slot *slot)
{
        dn__counter *counter = topic->counter;
        dn__shm_slot *left = topic->slot;
        uint64_t before = left ? dn__slot_get_generation(left) : 0;

        topic->slot = slot;
        if (!counter)
                return;
        if (left)
                atomic_store(&counter->state, atomic_load(&left->state));
        /* Only the difference of two counts says something. */
        dn__counter_set_slot(counter, slot,
                             before - (slot ? dn__slot_get_generation(slot) : 0));
}

dn__counter *dn__topic_get_counter(dn__topic *topic)
{
        dn__hub *hub = topic->hub;
        dn__counter *counter;

        DN__HUB_AUTO_LOCK(hub);
        assert(topic->n_holds > 0);
        if (topic->counter)
                return topic->counter;
        counter = hub->free_counters;
        if (counter)
                hub->free_counters = counter->next_free;
        else
                counter = calloc(1, sizeof(*counter));
        if (counter)
                dn__counter_set_slot(counter, topic->slot, 0);
        topic->counter = counter;
        return counter;
}

/* --- Release ------------------------------------------------------------------------------- */

static void drop(dn__topic *topic) DN__HUB_LOCKED
{
        dn__hub *hub = topic->hub;

        end_idleness(topic);
        dn__list_remove(&topic->prefix_link);
        if (topic->name.is_prefix && atomic_fetch_sub(&hub->n_prefixes, 1) == 1) {
                /* Ends what dn__prefix_begin() began. */
                if (dn__region_has_entry(atomic_load(&hub->member.region)))
                        dn__ring_unfollow(atomic_load(&hub->member.region));
                free(DN__TAKE(hub->prefix_counts));
        }
        dn__map_remove(&hub->topics, &topic->entry);
        dn__carrier_unsubscribe(hub->bus, topic->subscription);
        dn__topic_unref(topic);
}

static void sweep_at(dn__hub *hub, uint64_t at_us) DN__HUB_LOCKED
{
        atomic_store(&hub->sweep_us, at_us);
        if (at_us != DN__NEVER)
                dn__loop_wake(hub->loop);
}

static void keep_idle(dn__topic *topic) DN__HUB_LOCKED
{
        dn__hub *hub = topic->hub;

        topic->idle_until_us = dn__clock_after_us(IDLE_US);
        dn__list_append(&hub->idle, &topic->idle_link);
        if (hub->n_idle++ == 0)
                sweep_at(hub, topic->idle_until_us);
        if (hub->n_idle > IDLE_MAX)
                drop(DN__LIST_FIRST(dn__topic, &hub->idle, idle_link));
}

/* A name's state ends with its last observer or token, although its rule stays. Done under the
 * lock, since the name may be held again immediately. */
static void let_go(dn__topic *topic) DN__HUB_LOCKED
{
        dn__counter *counter = topic->counter;
        dn__hub *hub = topic->hub;

        atomic_fetch_add(&topic->n_releases, 1);
        if (topic->slot)
                dn__slot_release(atomic_load(&hub->member.region), topic->slot);
        dn__topic_set_slot(topic, NULL);
        topic->counter = NULL;
        if (!counter)
                return;
        atomic_store(&counter->state, 0);
        counter->next_free = hub->free_counters;
        hub->free_counters = counter;
}

void dn__topic_release(dn__topic *topic)
{
        assert(topic->n_holds > 0);
        if (--topic->n_holds > 0)
                return;
        let_go(topic);
        if (topic->is_refused || !topic->subscription)
                drop(topic);
        else
                keep_idle(topic);
}

void dn__topic_give_back(dn__topic *topic)
{
        DN__HUB_AUTO_LOCK(topic->hub);

        dn__topic_release(topic);
}

static bool drop_expired(dn__hub *hub, uint64_t now_us)
{
        dn__topic *topic;

        DN__HUB_AUTO_LOCK(hub);
        topic = DN__LIST_FIRST(dn__topic, &hub->idle, idle_link);
        if (topic && topic->idle_until_us <= now_us) {
                drop(topic);
                return true;
        }
        sweep_at(hub, topic ? topic->idle_until_us : DN__NEVER);
        return false;
}

/* Takes the lock once for each: there may be many. */
void dn__topic_sweep(dn__hub *hub, uint64_t now_us)
{
        while (drop_expired(hub, now_us))
                continue;
}
