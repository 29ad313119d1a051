/* The Darwin center: delivers names without a payload to every process on the same bus. */
#include <errno.h>

#include "center/center.h"
#include "center/table.h"
#include "darwinnotify/error.h"
#include "delivery/delivery.h"
#include "delivery/hub.h"
#include "delivery/prefix.h"
#include "delivery/topic.h"
#include "direct/direct.h"
#include "post/address.h"

/* --- Carrier callbacks ---------------------------------------------------------------------- */

/* A post counted in the shared table is delivered when its generation exceeds the last delivered
 * one, our own posts included: a post that began before an observer was added reaches it this way,
 * and a post that arrives by two carriers is delivered once. Any other post is delivered once per
 * signal, except our own, which were delivered immediately. */
static uint64_t hand_to_topic(dn__hub *hub, const dn__post *post) DN__HUB_LOCKED
{
        dn__topic *topic = dn__topic_find(hub, &post->name);
        bool is_counted = topic && topic->slot && post->generation;

        if (is_counted && post->region_id == atomic_load(&hub->member.region)->id)
                return dn__topic_hand_counted(topic, post->generation, false);
        if (!topic || !post->origin.sender || post->origin.is_own)
                return 0;
        return dn__topic_hand_one(topic, false);
}

/* Once the post is counted. Returns how many posts were new to observers of prefixes. */
static uint64_t hand_to_prefixes(dn__hub *hub, const dn__post *post)
{
        dn__payload *payload;
        uint64_t n_posts;
        dn__post valid;

        valid = *post;
        /* The text in the table need not be a name. */
        if (!post->origin.is_own && !post->origin.sender &&
            dn__name_init(&valid.name, post->name.text, DN__REACH_BEYOND) < 0)
                return 0;
        payload = dn__payload_new(&valid);
        dn__hub_lock(hub);
        n_posts = dn__prefix_hand(hub, &valid, payload);
        dn__hub_unlock_and_run(hub);
        dn__payload_unref(payload);
        return n_posts;
}

static uint64_t received(void *context, const dn__post *post)
{
        dn__hub *hub = context;
        uint64_t n_posts, n_by_prefix = 0;

        dn__hub_lock(hub);
        n_posts = hand_to_topic(hub, post);
        dn__hub_unlock_and_run(hub);
        if (atomic_load(&hub->n_prefixes) > 0)
                n_by_prefix = hand_to_prefixes(hub, post);
        return n_posts ? n_posts : n_by_prefix;
}

/* Observers of prefixes miss nothing: what the table counts is marked for them. */
static void may_have_missed(void *context)
{
        dn__hub *hub = context;

        dn__table_look(hub, false);
        dn__hub_lock(hub);
        DN__MAP_EACH(dn__topic, topic, &hub->topics, entry)
                dn__topic_hand_missed(topic);
        dn__hub_unlock_and_run(hub);
}

static void other_table(void *context)
{
        dn__table_look_soon(context);
}

static const dn__sink sink = {
        .received = received,
        .other_table = other_table,
        .may_have_missed = may_have_missed,
        .connection_changed = dn__bus_connection_changed,
        .closed = dn__bus_carrier_closed,
};

/* --- Opening -------------------------------------------------------------------------------- */

static int add_carriers(dn__hub *hub, dn__address *address)
{
        dn__direct_options direct = { &sink, hub, &hub->member.region, dn__delivery_thread_get };
        int r;

        r = dn__direct_new(&direct, &hub->direct);
        if (r < 0)
                return r;
        atomic_fetch_add(&hub->n_open_carriers, 1);
        hub->inline_loop = dn__direct_get_loop(hub->direct);
        r = dn__table_begin(hub, address->scope);
        return r < 0 ? r : dn__bus_add(hub, address, &sink);
}

/* --- Posts ---------------------------------------------------------------------------------- */

/* Counts a post whose name is held here, and hands it to the observers of this process. */
static void post_inside(dn__hub *hub, dn__post *post)
{
        dn__topic *topic;

        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &post->name);
        if (!topic) {
                dn__hub_unlock(hub);
                return;
        }
        if (topic->slot) {
                post->region_id = atomic_load(&hub->member.region)->id;
                post->generation = dn__slot_count_post(topic->slot);
                (void)dn__topic_hand_counted(topic, post->generation, true);
        } else {
                (void)dn__topic_hand_one(topic, true);
        }
        dn__hub_unlock_and_run(hub);
}

/* The table is stale: a process that has already moved does not see the count there. Our own
 * observers have heard of the post. */
static void count_again(dn__hub *hub, dn__post *post)
{
        uint64_t stale_id = post->region_id;
        const dn__region *region;
        dn__topic *topic;

        dn__table_look(hub, false);
        if (atomic_load(&hub->member.region)->id == stale_id)
                return;
        post->generation = 0;
        (void)hub->direct->ops->post(hub->direct, post);
        dn__hub_lock(hub);
        region = atomic_load(&hub->member.region);
        topic = region->id == post->region_id ? dn__topic_find(hub, &post->name) : NULL;
        if (topic && topic->slot && topic->generation + 1 == post->generation)
                topic->generation = post->generation;
        dn__hub_unlock(hub);
}

void dn__darwin_post_in_table(dn__hub *hub, dn__post *post)
{
        dn__table_look_if_due(hub, false);
        post_inside(hub, post);
        if (hub->direct->ops->post(hub->direct, post) == -ESTALE)
                count_again(hub, post);
        if (atomic_load(&hub->n_prefixes) > 0)
                (void)hand_to_prefixes(hub, post);
}

static int post_darwin(dn__hub *hub, dn__post *post)
{
        int r;

        /* Only the name is posted; the other pointers that were passed may be invalid. */
        post->body = (dn__body){ 0 };
        if (post->name.reach == DN__REACH_PROCESS) {
                post_inside(hub, post);
                if (atomic_load(&hub->n_prefixes) > 0)
                        (void)hand_to_prefixes(hub, post);
                return 0;
        }
        dn__darwin_post_in_table(hub, post);
        /* Last: a bus that does not answer delays only programs beyond the table. */
        r = hub->bus->ops->post(hub->bus, post);
        return r == DN_NOT_CONNECTED && dn__table_is_enough(hub) ? 0 : r;
}

static const dn__center_ops darwin_ops = {
        .reach = DN__REACH_BEYOND,
        .has_executors = true,
        .has_table = true,
        .has_calls = true,
        .open = dn__bus_open,
        .add_carriers = add_carriers,
        .close = dn__bus_close,
        .post = post_darwin,
};

dn_center *dn_center_darwin(void)
{
        static dn_center center = { .ops = &darwin_ops, .n_refs = 1 };

        return &center;
}

int dn_center_open(const char *bus, dn_center **ret_center)
{
        return dn__center_open(&darwin_ops, bus, ret_center);
}
