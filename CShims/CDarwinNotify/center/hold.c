/* Holds names. The posts of a held name are counted and received. */
#include "center/hold.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "center/table.h"
#include "darwinnotify/error.h"
#include "delivery/delivery.h"
#include "delivery/prefix.h"
#include "util/debug.h"

/* If the hub moves to another table meanwhile, the move takes a slot there for this topic. */
static void take_slot(dn__topic *topic)
{
        dn__hub *hub = topic->hub;
        bool has_slot = dn__table_take_slot(topic, dn__clock_after_us(DN__SLOT_TIMEOUT_US));

        dn__hub_lock(hub);
        dn__hub_unlock_and_run(hub);
        /* For the first such name: there may be thousands. */
        if (!has_slot && dn__region_has_entry(atomic_load(&hub->member.region)) &&
            !atomic_load(&hub->member.failed_us))
                dn__debug_say(0, "no room in the table for %s; using D-Bus only for such names",
                              topic->name.text);
}

/* Returns whether posts of processes that share the table are heard. */
static bool is_in_table(const dn__topic *topic) DN__HUB_LOCKED
{
        return topic->slot || (topic->name.is_prefix && topic->hub->prefix_counts);
}

static bool has_table(const dn__topic *topic)
{
        DN__HUB_AUTO_LOCK(topic->hub);

        return is_in_table(topic);
}

/* Lets one caller at a time prepare a topic, and none during a move to another table, which takes
 * slots itself. Returns false if nothing is missing. */
static bool begin_preparing(dn__topic *topic)
{
        dn__hub *hub = topic->hub;

        DN__HUB_AUTO_LOCK(hub);
        while (topic->is_preparing || hub->member.is_moving)
                (void)dn__hub_wait(hub, DN__NEVER);
        topic->is_preparing = !topic->is_prepared || !topic->slot;
        return topic->is_preparing;
}

/* Adds the rule, unless something has failed. Returns 0 or a negative errno. */
static int end_preparing(dn__topic *topic, int r)
{
        dn__hub *hub = topic->hub;

        DN__HUB_AUTO_LOCK(hub);
        if (r == 0 && !topic->is_prepared)
                r = dn__carrier_subscribe(hub->bus, &topic->name, is_in_table(topic),
                                          &topic->subscription);
        else
                dn__carrier_set_counted(hub->bus, topic->subscription, is_in_table(topic));
        topic->is_prepared = topic->is_prepared || r == 0;
        topic->is_preparing = false;
        dn__condition_broadcast(&hub->changed);
        return r;
}

/* The table comes before the rule: once the bus delivers, posts must be counted. Retries what
 * failed the last time. Returns 0 or a negative errno. */
static int prepare_topic(dn__topic *topic)
{
        dn__hub *hub = topic->hub;
        int r = 0;

        if (!begin_preparing(topic))
                return 0;
        dn__debug_keep();
        if (!has_table(topic)) {
                if (topic->name.is_prefix)
                        r = dn__prefix_begin(hub) < 0 ? -ENOMEM : 0;
                else
                        take_slot(topic);
        }
        if (r == 0)
                r = dn__carrier_start(hub->direct, NULL);
        r = end_preparing(topic, r);
        dn__table_attend(hub, has_table(topic));
        dn__debug_release();
        return r;
}

/* Returns 0 or a negative errno. */
static int hold_topic(dn__hub *hub, const dn__name *name, dn__topic **ret_topic)
{
        dn__topic *topic = dn__topic_acquire(hub, name);
        int r = 0;

        if (!topic)
                return -ENOMEM;
        if (name->reach != DN__REACH_PROCESS)
                r = prepare_topic(topic);
        if (r < 0)
                dn__topic_give_back(topic);
        else
                *ret_topic = topic;
        return r;
}

/* Releases a name whose rule the bus rejected, so that the next call asks again. */
static void release_refused(dn__topic *topic)
{
        DN__HUB_AUTO_LOCK(topic->hub);

        topic->is_refused = true;
        dn__topic_release(topic);
}

int dn__hold_name(dn__hub *hub, const dn__name *name, dn__topic **ret_topic)
{
        uint64_t deadline_us = 0;
        dn__topic *topic = NULL;
        int r;

        assert(*name->text || name->is_prefix || hub->center->ops->objects != DN_OBJECTS_NONE);
        if (name->is_reserved && !dn__name_may_observe(name, geteuid()))
                return -EACCES;
        if (name->reach == DN__REACH_PROCESS)
                return hold_topic(hub, name, ret_topic);
        /* The table first: the connection asks for its name. */
        dn__table_look_if_due(hub, true);
        r = dn__carrier_start(hub->bus, &deadline_us);
        if (r == 0)
                r = hold_topic(hub, name, &topic);
        if (r < 0)
                return r;
        r = dn__carrier_await(hub->bus, topic->subscription, &deadline_us);
        if (r == DN_NOT_CONNECTED && has_table(topic))
                r = 0;
        if (r >= 0)
                *ret_topic = topic;
        else
                release_refused(topic);
        return r;
}
