/* Holds a name: while held, its posts are counted and received. */
#include "center/hold.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "center/delivery.h"
#include "center/fanout.h"
#include "center/table.h"
#include "util/debug.h"

static void publish(dn__topic *topic, dn__shm_slot *slot, const dn__watches *watches)
{
        dn__hub *hub = topic->hub;
        dn__batch batch = { 0 };

        dn__hub_lock(hub);
        if (slot != topic->slot) {
                topic->generation = dn__slot_get_generation(slot);
                /* Posts counted before now whose signals have not yet arrived cannot be told apart
                 * from those that have arrived, so existing observers are notified once more. */
                dn__fanout_uncounted(topic, &batch);
                dn__topic_set_slot(topic, slot);
        }
        if (watches) {
                topic->watches = *watches;
                topic->is_watched = true;
        }
        topic->is_preparing = false;
        hub->n_preparing--;
        dn__condition_broadcast(&hub->changed);
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
}

/* The slot comes before the watch: once the bus delivers, posts must be counted. Retries what
 * failed the last time. */
static int prepare_topic(dn__topic *topic, dn__shm_slot *slot, bool is_watched)
{
        dn__hub *hub = topic->hub;
        const dn__name *name = &topic->name;
        dn__watches watches;
        int r = 0;

        if (!slot && hub->region && !name->is_prefix)
                slot = dn__slot_hold(hub->region, name->hash, name->text, name->n_bytes);
        if (!is_watched)
                r = dn__carriers_watch(hub, name, &watches);
        if (!slot && hub->region && !name->is_prefix)
                dn__debug_say(0, "the table has no room for %s: it goes over the bus alone",
                              name->text);
        publish(topic, slot, is_watched || r < 0 ? NULL : &watches);
        if (!name->is_prefix)
                dn__table_attend(hub, slot != NULL);
        return r;
}

/* One caller prepares the topic while the others wait. Returns whether this is that caller. */
static bool begin_preparing(dn__topic *topic) DN__HUB_LOCKED
{
        dn__hub *hub = topic->hub;

        while (topic->is_preparing || hub->is_moving)
                dn__hub_wait(hub);
        topic->is_preparing = !topic->is_watched || (!topic->slot && hub->region);
        hub->n_preparing += topic->is_preparing;
        return topic->is_preparing;
}

/* Returns 0 or -ENOMEM. */
static int hold_topic(dn__hub *hub, const dn__name *name, dn__topic **ret_topic)
{
        bool is_to_prepare = false, is_watched = false;
        dn__shm_slot *slot = NULL;
        dn__topic *topic;
        int r = 0;

        dn__hub_lock(hub);
        topic = dn__topic_acquire(hub, name);
        if (topic && name->reach != DN__REACH_PROCESS) {
                is_to_prepare = begin_preparing(topic);
                is_watched = topic->is_watched;
                slot = topic->slot;
        }
        dn__hub_unlock(hub);
        if (!topic)
                return -ENOMEM;
        if (is_to_prepare)
                r = prepare_topic(topic, slot, is_watched);
        if (r < 0)
                dn__topic_give_back(topic);
        else
                *ret_topic = topic;
        return r;
}

/* Releases a name whose rule the bus rejected, so that the next call asks again. */
static void release_refused(dn__topic *topic)
{
        dn__hub_lock(topic->hub);
        topic->is_refused = true;
        dn__hub_unlock(topic->hub);
        dn__topic_give_back(topic);
}

static bool has_slot(dn__topic *topic)
{
        bool has_slot;

        dn__hub_lock(topic->hub);
        has_slot = topic->slot != NULL;
        dn__hub_unlock(topic->hub);
        return has_slot;
}

int dn__hold_name(dn__hub *hub, const dn__name *name, dn__topic **ret_topic)
{
        uint64_t deadline_us = 0;
        dn__topic *topic;
        int r;

        assert(*name->text || name->is_prefix || hub->center->ops->objects != DN_OBJECTS_NONE);
        if (name->is_reserved && !dn__name_may_observe(name, geteuid()))
                return -EACCES;
        if (name->reach == DN__REACH_PROCESS)
                return hold_topic(hub, name, ret_topic);
        r = dn__carriers_start(hub, &deadline_us);
        dn__table_check(hub);
        if (r == 0)
                r = hold_topic(hub, name, &topic);
        if (r < 0)
                return r;
        r = dn__carriers_await(hub, &topic->watches, &deadline_us);
        if (r == -ENOTCONN && has_slot(topic))
                r = 0; /* those who share the table are heard */
        if (r == 0 || r == -ENOTCONN)
                *ret_topic = topic;
        else
                release_refused(topic);
        return r;
}
