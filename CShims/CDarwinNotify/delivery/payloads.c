/* Hands posts with a payload to the queues of their names, or keeps them during a suspension. */
#include "delivery/payloads.h"

#include <string.h>
#include <unistd.h>

#include "delivery/delivery.h"
#include "util/text.h"

typedef void (*each_queue)(dn__post_queue *queue, dn__payload *payload);

static void each_of_topic(const dn__topic *topic, dn__payload *payload, each_queue call)
        DN__HUB_LOCKED
{
        DN__LIST_EACH(dn__post_queue, queue, &topic->queues, link)
                call(queue, payload);
}

/* Observers of a prefix do not receive names of another user that they could not observe
 * individually. */
static void each_of_hub(dn__hub *hub, dn__payload *payload, each_queue call) DN__HUB_LOCKED
{
        const dn__name *name = &payload->post.name;
        const dn__topic *own = dn__topic_find(hub, name);

        if (own && own->has_payloads)
                each_of_topic(own, payload, call);
        DN__LIST_EACH(dn__topic, topic, &hub->prefixes, prefix_link)
                if (dn__text_begins_with(name->text, topic->name.text) &&
                    (!name->is_reserved || dn__name_may_observe(name, geteuid())))
                        each_of_topic(topic, payload, call);
}

static void miss(dn__post_queue *queue, dn__payload *payload) DN__HUB_LOCKED
{
        dn__post_queue_miss(queue, payload);
}

/* Adds the behaviors of the observers that receive a payload, as bits. */
static void ask(dn__post_queue *queue, dn__payload *payload) DN__HUB_LOCKED
{
        DN__LIST_EACH(const dn_observer, observer, &queue->observers, link)
                if (!observer->is_cancelled && dn__observer_count_posts(observer, payload))
                        payload->behaviors |= 1U << observer->behavior;
}

/* A queue without an observer of the object is left alone. Returns false if out of memory. */
static bool add_if_observed(dn__post_queue *queue, dn__payload *payload) DN__HUB_LOCKED
{
        DN__LIST_EACH(const dn_observer, observer, &queue->observers, link)
                if (dn__observer_count_posts(observer, payload))
                        return dn__post_queue_add(queue, payload);
        dn__post_queue_miss(queue, payload);
        return true;
}

static void add(dn__post_queue *queue, dn__payload *payload) DN__HUB_LOCKED
{
        (void)add_if_observed(queue, payload);
}

/* --- Suspension ----------------------------------------------------------------------------- */

/* How many posts a resumption delivers at once. */
#define N_RESUMED 64

static void remove_kept(dn__suspension *suspension, dn__payload *payload) DN__HUB_LOCKED
{
        if (payload->entry.key)
                dn__map_remove(&suspension->by_key, &payload->entry);
        payload->entry.key = NULL;
        dn__list_remove(&payload->link);
        suspension->n_posts--;
        suspension->n_bytes -= payload->n_bytes;
}

/* Returns the oldest one that is kept, with its reference, or NULL. */
static dn__payload *take_kept(dn__suspension *suspension) DN__HUB_LOCKED
{
        dn__payload *first = DN__LIST_FIRST(dn__payload, &suspension->posts, link);

        if (first)
                remove_kept(suspension, first);
        return first;
}

/* Name and object, which are adjacent in a copy. */
static dn__map_entry key_of(const dn__payload *payload)
{
        const dn__post *post = &payload->post;
        size_t n_bytes = post->name.n_bytes + 1;

        if (post->body.object)
                n_bytes += strlen(post->body.object) + 1;
        return dn__map_key(payload->bytes, n_bytes);
}

/* Observers that coalesce do not receive the earlier one of two. */
static void supersede(dn__hub *hub, dn__payload *earlier, dn__payload *payload) DN__HUB_LOCKED
{
        dn__suspension *suspension = &hub->suspension;

        payload->n_equal += earlier->n_equal;
        if (earlier->behaviors & 1U << DN_SUSPENSION_HOLD) {
                earlier->is_superseded = true;
                dn__map_remove(&suspension->by_key, &earlier->entry);
                earlier->entry.key = NULL;
        } else {
                payload->n_lost += earlier->n_lost;
                remove_kept(suspension, earlier);
                dn__payload_drop(hub, earlier);
        }
}

static void keep(dn__hub *hub, dn__payload *payload) DN__HUB_LOCKED
{
        dn__suspension *suspension = &hub->suspension;
        dn__map_entry key = key_of(payload);
        dn__map_entry *earlier = dn__map_find(&suspension->by_key, key.hash, key.key,
                                              key.n_key_bytes);

        payload->was_suspended = true;
        if (earlier)
                supersede(hub, DN__CONTAINER(earlier, dn__payload, entry), payload);
        /* If out of memory, the next post does not find this one: then both are delivered. */
        payload->entry = key;
        if (dn__map_add(&suspension->by_key, &payload->entry) < 0)
                payload->entry.key = NULL;
        dn__list_append(&suspension->posts, &dn__payload_ref(payload)->link);
        suspension->n_posts++;
        suspension->n_bytes += payload->n_bytes;
        while (suspension->n_posts > DN__POST_QUEUE_MAX_KEPT ||
               (suspension->n_bytes > DN__POST_QUEUE_MAX_KEPT_BYTES && suspension->n_posts > 1)) {
                dn__payload *dropped = take_kept(suspension);

                each_of_hub(hub, dropped, miss);
                dn__payload_drop(hub, dropped);
        }
}

/* Hands on up to so many of the oldest posts. */
static void release_kept(dn__hub *hub, size_t n_posts) DN__HUB_LOCKED
{
        dn__payload *payload;

        while (n_posts-- > 0 && (payload = take_kept(&hub->suspension))) {
                each_of_hub(hub, payload, add);
                dn__payload_drop(hub, payload);
        }
}

static void keep_or_add(dn__hub *hub, dn__payload *payload) DN__HUB_LOCKED
{
        each_of_hub(hub, payload, ask);
        if (payload->behaviors & 1U << DN_SUSPENSION_DELIVER_IMMEDIATELY ||
            (payload->behaviors && payload->post.body.is_immediate)) {
                /* As if the suspension ended for this post. */
                release_kept(hub, SIZE_MAX);
                each_of_hub(hub, payload, add);
        } else if (payload->behaviors & ~(1U << DN_SUSPENSION_DROP)) {
                keep(hub, payload);
        }
}

void dn__payloads_hand(dn__hub *hub, const dn__post *post, dn__payload *payload)
{
        dn__payload lost;

        hub->last_sequence++;
        if (!payload) {
                lost = dn__payload_of(post, hub->last_sequence);
                each_of_hub(hub, &lost, miss);
                return;
        }
        payload->sequence = hub->last_sequence;
        payload->n_losses = hub->n_losses;
        if (hub->suspension.is_active)
                keep_or_add(hub, payload);
        else
                each_of_hub(hub, payload, add);
}

bool dn__payloads_hand_to(dn__topic *topic, dn__payload *payload)
{
        bool have_all = true;

        payload->sequence = ++topic->hub->last_sequence;
        payload->n_losses = topic->hub->n_losses;
        DN__LIST_EACH(dn__post_queue, queue, &topic->queues, link)
                have_all = add_if_observed(queue, payload) && have_all;
        return have_all;
}

/* In parts, so that other posts need not wait for the lock. These are kept after the rest. */
static bool resume_some(dn__hub *hub)
{
        dn__suspension *suspension = &hub->suspension;
        bool is_active;

        dn__hub_lock(hub);
        release_kept(hub, N_RESUMED);
        is_active = suspension->is_active = suspension->n_posts > 0;
        if (!is_active)
                dn__map_deinit(&suspension->by_key);
        dn__hub_unlock_and_run(hub);
        return is_active;
}

void dn__payloads_set_suspended(dn__hub *hub, bool is_suspended)
{
        if (!is_suspended) {
                while (resume_some(hub))
                        continue;
                return;
        }
        dn__hub_lock(hub);
        hub->suspension.is_active = true;
        dn__hub_unlock(hub);
}

void dn__payloads_forget(dn__hub *hub)
{
        dn__hub_lock(hub);
        while (hub->suspension.n_posts)
                dn__payload_drop(hub, take_kept(&hub->suspension));
        dn__map_deinit(&hub->suspension.by_key);
        dn__hub_unlock_and_run(hub);
}
