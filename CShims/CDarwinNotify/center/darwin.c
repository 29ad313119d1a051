/* The Darwin center: delivers names without a payload to every process on the same bus. */
#include "center/darwin.h"

#include <errno.h>
#include <unistd.h>

#include "carrier/dbus/dbus.h"
#include "carrier/direct/direct.h"
#include "center/bus.h"
#include "center/carriers.h"
#include "center/delivery.h"
#include "center/fanout.h"
#include "center/hub.h"
#include "center/news.h"
#include "center/prefix.h"
#include "center/table.h"
#include "center/topic.h"
#include "center/works.h"

dn_center *dn_center_darwin(void)
{
        static dn_center center = { .ops = &dn__darwin_ops, .n_refs = 1 };

        return &center;
}

/* --- Carrier callbacks ---------------------------------------------------------------------- */

/* A post counted in the shared table is delivered when its generation exceeds what was delivered,
 * our own posts included: one that began before an observer was added reaches it this way, and one
 * that arrives by two carriers is delivered once. Any other post is delivered once per signal,
 * except our own, which were delivered immediately. */
static uint64_t received(void *context, const dn__post *post)
{
        dn__hub *hub = context;
        dn__batch batch = { 0 };
        dn__crowd works = { 0 };
        dn__topic *topic;
        uint64_t n_posts = 0;

        dn__table_check_foreign(hub, post->region);
        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &post->name);
        if (topic && topic->slot && post->generation && post->region == hub->region->id)
                n_posts = dn__fanout_counted(topic, post->generation, &batch);
        else if (topic && topic->slot && post->generation &&
                 dn__region_was_once(hub->region, post->region))
                dn__fanout_missed(topic, &batch); /* it was carried, or counted again */
        else if (topic && post->origin.sender && !post->origin.is_own)
                n_posts = dn__fanout_uncounted(topic, &batch);
        /* Observers of a prefix hold no slots, so they hear of names by the bus. */
        if (post->origin.sender && (post->generation || !post->origin.is_own))
                dn__prefix_hand(hub, post, &works);
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
        dn__works_run(&works);
        return n_posts;
}

static void may_have_missed(void *context)
{
        dn__hub *hub = context;
        dn__batch batch = { 0 };
        dn__crowd works = { 0 };

        dn__table_check(hub);
        dn__hub_lock(hub);
        for (dn__map_entry *entry = dn__map_next(&hub->topics, NULL); entry;
             entry = dn__map_next(&hub->topics, entry))
                dn__fanout_missed(DN__CONTAINER(entry, dn__topic, entry), &batch);
        dn__prefix_missed(hub, &works);
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
        dn__works_run(&works);
}

static const dn__sink sink = {
        .received = received,
        .may_have_missed = may_have_missed,
        .connection_changed = dn__news_bus_changed,
        .closed = dn__bus_carrier_closed,
};

/* --- Opening -------------------------------------------------------------------------------- */

static int add_carriers(dn__hub *hub, dn__address address)
{
        dn__dbus_options options = { address, &dn__wire_darwin, hub->loop, &sink, hub };
        int r;

        r = dn__direct_new(&sink, hub, &hub->carriers[0]);
        if (r == 0)
                hub->n_carriers = 1;
        if (r == 0)
                r = dn__table_begin(hub, address.scope);
        if (r < 0) {
                dn__address_deinit(&address);
                return r;
        }
        hub->inline_loop = dn__direct_get_loop(hub->carriers[0]);
        if (!address.address) {
                dn__address_deinit(&address);
                return 0;
        }
        r = dn__dbus_new(&options, &hub->carriers[1]);
        if (r == 0)
                hub->n_carriers = 2;
        return r;
}

static int open_darwin(dn__hub *hub)
{
        return dn__bus_open(hub, add_carriers);
}

/* --- Posts ---------------------------------------------------------------------------------- */

/* Counts the post and passes it to the observers of this process. If no process with a slot
 * observes the name, there is nothing to count. */
static void post_inside(dn__hub *hub, dn__post *post)
{
        dn__batch batch = { 0 };
        dn__topic *topic;

        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &post->name);
        if (topic && topic->slot) {
                post->slot = topic->slot;
                post->table = hub->region;
                post->generation = dn__slot_count_post(topic->slot);
                (void)dn__fanout_counted(topic, post->generation, &batch);
        } else if (topic) {
                (void)dn__fanout_uncounted(topic, &batch);
        }
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
}

static void count_for_others(dn__post *post, dn__region *region)
{
        post->table = region;
        post->region = region->id;
        dn__slot_count_for_others(region, post);
}

/* Most posts find that there is nothing to do. */
static void look_for_table(dn__hub *hub)
{
        const dn__region *region = hub->region;

        if (!region || dn__region_was_left(region))
                dn__table_check(hub);
}

/* Those who have left the table that counted the post do not see that. If it cannot be counted in
 * the next one, too, they hear of it by the bus. */
static void follow(dn__hub *hub, dn__post *post)
{
        dn__region *left = post->table, *next = dn__table_follow(hub, left);

        if (!next) {
                post->generation = 0;
                post->region = 0;
                return;
        }
        post->table = next;
        post->region = next->id;
        if (!post->slot || !dn__slot_carry_post(next, left, post)) {
                post->generation = 0;
                post->slot = NULL;
                dn__slot_count_for_others(next, post);
        }
        if (dn__region_was_left(next))
                follow(hub, post);
}

static void count_beyond(dn__hub *hub, dn__post *post)
{
        dn__region *region = post->slot ? post->table : hub->region;

        if (!region)
                return;
        if (post->slot)
                post->region = region->id;
        else
                count_for_others(post, region);
        if (dn__region_was_left(region))
                follow(hub, post);
}

/* Once it is counted. */
static void tell_prefixes(dn__hub *hub, const dn__post *post)
{
        dn__crowd works = { 0 };

        if (atomic_load(&hub->n_prefixes) == 0)
                return;
        dn__hub_lock(hub);
        dn__prefix_hand(hub, post, &works);
        dn__hub_unlock(hub);
        dn__works_run(&works);
}

static int post_darwin(dn__hub *hub, dn__post *post)
{
        uint64_t deadline_us = 0;

        if (post->name.is_reserved && !dn__name_may_post(&post->name, geteuid()))
                return 0;
        if (post->name.reach == DN__REACH_PROCESS) {
                post_inside(hub, post);
                tell_prefixes(hub, post);
                return 0;
        }
        look_for_table(hub);
        post_inside(hub, post);
        count_beyond(hub, post);
        tell_prefixes(hub, post);
        return dn__carriers_send(hub, post, &deadline_us);
}

const dn__center_ops dn__darwin_ops = {
        .reach = DN__REACH_BEYOND,
        .has_executors = true,
        .has_prefixes = true,
        .open = open_darwin,
        .close = dn__bus_close,
        .post = post_darwin,
};
