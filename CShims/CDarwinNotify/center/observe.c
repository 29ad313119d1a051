/* Controls observers, starting with their registration. */
#include "center/observe.h"

#include <assert.h>
#include <errno.h>

#include "center/center.h"
#include "center/hold.h"
#include "delivery/delivery.h"
#include "delivery/prefix.h"
#include "util/gate.h"
#include "util/reserved.h"

/* Posts that wait for `old` in another queue are delivered to its successor together. Posts with a
 * payload are lost: the successor learns that there may have been some. The one that is being
 * delivered may not have reached `old`. */
static void take_over(dn_observer *observer, const dn_observer *old) DN__HUB_LOCKED
{
        const dn__topic *topic = observer->queue->topic;
        bool is_behind = old->queue->n_items > 0 ||
                         (old->queue->is_delivering && old->seen < topic->hub->last_sequence);

        if (topic->has_payloads && is_behind)
                observer->n_losses--;
        else if (!topic->has_payloads && observer->seen < topic->sequence)
                dn__post_queue_count(observer->queue, topic->sequence - 1, 1, false);
}

/* Links an observer into the queue of its executor: at the position of `old` if that is in the
 * same queue, otherwise last. */
static int link_observer(dn__topic *topic, dn_observer *observer, dn__executor *executor,
                         dn_observer *old) DN__HUB_LOCKED
{
        uint64_t now = topic->has_payloads ? topic->hub->last_sequence : topic->sequence;
        dn__post_queue *queue;
        bool is_same_queue;

        if (old && old->is_cancelled)
                return -EINVAL; /* race: only if another thread has cancelled it just now */
        queue = dn__post_queue_ref(dn__post_queue_find(topic, executor));
        if (!queue)
                queue = dn__post_queue_new(topic, executor);
        if (!queue)
                return -ENOMEM;
        is_same_queue = old && old->queue == queue;
        observer->id = is_same_queue ? old->id : ++topic->hub->last_observer_id;
        observer->seen = old ? old->seen : now;
        observer->n_dropped = old ? old->n_dropped : 0;
        observer->n_losses = old ? old->n_losses : topic->hub->n_losses;
        dn__observer_link(observer, queue, is_same_queue ? &old->link : queue->observers.previous);
        if (old && !is_same_queue)
                take_over(observer, old);
        dn__post_queue_unref(queue);
        return 0;
}

int dn__observe_topic(dn__topic *topic, dn_observer *observer, const dn_executor *value,
                      dn_observer *old, dn_observer **ret_observer)
{
        dn_observer *cancelled = NULL;
        dn__executor *executor;
        int r;

        assert(observer->handler.invoke);
        r = dn__hub_make_executor(topic->hub, value, &executor);
        if (r < 0)
                return r;
        dn__hub_lock(topic->hub);
        /* Earlier posts go only to the existing observers. */
        dn__topic_hand_missed(topic);
        r = link_observer(topic, observer, executor, old);
        if (r == 0 && ret_observer)
                *ret_observer = dn_observer_ref(observer);
        if (r == 0 && old)
                cancelled = dn__observer_mark_cancelled(old);
        if (cancelled) {
                /* Before the host gets work for an executor: there it may wait for this end. */
                dn__hub_unlock(topic->hub);
                dn__delivery_end(cancelled);
                dn__hub_lock(topic->hub);
        }
        dn__hub_unlock_and_run(topic->hub);
        (void)dn__executor_unref(executor);
        return r;
}

int dn__observe_name(dn__hub *hub, const dn__name *name, dn_observer *observer,
                     const dn_executor *executor, dn_observer **ret_observer)
{
        dn__topic *topic;
        int r, added;

        r = dn__hub_use_executor(hub, executor);
        if (r == 0)
                r = dn__hold_name(hub, name, &topic);
        if (r < 0)
                return r;
        if (name->is_prefix)
                dn__prefix_missed(hub); /* earlier posts go only to the existing observers */
        added = dn__observe_topic(topic, observer, executor, NULL, ret_observer);
        dn__topic_give_back(topic);
        return added < 0 ? added : r;
}

/* --- Observing ------------------------------------------------------------------------------ */

static bool is_valid(const dn_handler *handler)
{
        return handler && handler->invoke && dn__reserved_is_zero(handler->reserved);
}

/* Makes the name that a filter selects. */
static int read_name(const dn__center_ops *ops, const dn_filter *filter, dn__name *ret_name)
{
        if (filter->name)
                return filter->prefix ? -EINVAL
                                      : dn__name_init(ret_name, filter->name, ops->reach);
        if (ops->has_executors)
                return dn__name_init_prefix(ret_name, filter->prefix, ops->reach);
        *ret_name = dn__name_any;
        return filter->prefix ? -EINVAL : 0;
}

static int observe(dn_center *center, const dn_filter *filter, dn_observer *observer,
                   const dn_executor *executor, dn_observer **ret_observer)
{
        dn__hub *hub DN__UNREFS_HUB = NULL;
        dn__name name;
        int r;

        r = read_name(center->ops, filter, &name);
        if (r == 0 && filter->object)
                r = dn__center_check_object(center, filter->object);
        if (r == 0)
                r = dn__hub_get(center, &hub);
        return r < 0 ? r : dn__observe_name(hub, &name, observer, executor, ret_observer);
}

int dn_center_observe_filtered(dn_center *center, const dn_filter *filter,
                               const dn_handler *handler, const dn_executor *executor,
                               dn_observer **ret_observer)
{
        DN__GATE();
        dn_objects objects = center ? center->ops->objects : DN_OBJECTS_NONE;
        dn__observer_options options = {
                .object = filter && objects != DN_OBJECTS_NONE ? filter->object : NULL,
                .has_text = objects == DN_OBJECTS_TEXTS,
                .behavior = filter ? filter->behavior : 0,
        };
        dn_observer *observer DN__UNREFS_OBSERVER =
                handler ? dn__observer_new(handler, &options) : NULL;

        if (!center || !filter || !dn__reserved_is_zero(filter->reserved) || !is_valid(handler))
                return -EINVAL;
        return observer ? observe(center, filter, observer, executor, ret_observer) : -ENOMEM;
}

int dn_center_observe(dn_center *center, const char *name, const dn_handler *handler,
                      const dn_executor *executor, dn_observer **ret_observer)
{
        dn_filter filter = { .name = name };

        return dn_center_observe_filtered(center, name ? &filter : NULL, handler, executor,
                                          ret_observer);
}

int dn_center_observe_prefix(dn_center *center, const char *prefix, const dn_handler *handler,
                             const dn_executor *executor, dn_observer **ret_observer)
{
        dn_filter filter = { .prefix = prefix };

        return dn_center_observe_filtered(center, prefix ? &filter : NULL, handler, executor,
                                          ret_observer);
}

/* --- Replacing, suspending and cancelling --------------------------------------------------- */

/* Returns NULL for an observer of the parent process, which is already silent here. */
static dn__hub *hub_of(const dn_observer *observer)
{
        dn__hub *hub = observer ? observer->queue->topic->hub : NULL;

        return hub && dn__hub_is_current(hub) ? hub : NULL;
}

/* Keeps the center of an observer open, which may be all that does so. Returns NULL if it is
 * cancelled: then the center may be closed. */
static dn_center *keep_center(dn_observer *observer)
{
        dn__hub *hub = observer->queue->topic->hub;
        DN__HUB_AUTO_LOCK(hub);

        if (observer->is_cancelled)
                return NULL;
        dn__center_retain(hub->center);
        return hub->center;
}

/* Posts that the old observer has not received wait in the queue of the new one. */
int dn_observer_replace(dn_observer *old, const dn_handler *handler, const dn_executor *executor,
                        dn_observer **ret_observer)
{
        DN__GATE();
        dn__observer_options options = {
                .object = hub_of(old) ? old->object : NULL,
                .has_text = hub_of(old) && old->object == old->bytes,
                .behavior = hub_of(old) ? old->behavior : 0,
        };
        dn_observer *observer DN__UNREFS_OBSERVER =
                handler ? dn__observer_new(handler, &options) : NULL;
        dn_center *center;
        int r;

        if (!hub_of(old) || !is_valid(handler) || old->queue->topic->name.is_private)
                return -EINVAL;
        center = keep_center(old);
        if (!center)
                return -EINVAL;
        r = observer ? dn__observe_topic(old->queue->topic, observer, executor, old, ret_observer)
                     : -ENOMEM;
        dn__center_release(center);
        return r;
}

/* Delivers everything it has not seen, or else the last post again, as one delivery. */
static void deliver_once(dn_observer *observer) DN__HUB_LOCKED
{
        dn__post_queue *queue = observer->queue;

        observer->seen = queue->topic->sequence - 1;
        if (!observer->n_suspends)
                dn__post_queue_count(queue, observer->seen, 1, false);
}

void dn__observer_suspend(dn_observer *observer)
{
        DN__HUB_AUTO_LOCK(observer->queue->topic->hub);

        observer->n_suspends++;
}

void dn__observer_resume(dn_observer *observer)
{
        dn__hub *hub = observer->queue->topic->hub;

        dn__hub_lock(hub);
        if (observer->n_suspends && --observer->n_suspends == 0 && !observer->is_cancelled &&
            observer->seen < observer->queue->topic->sequence)
                deliver_once(observer);
        dn__hub_unlock_and_run(hub);
}

void dn__observer_notify(dn_observer *observer)
{
        dn__hub *hub = observer->queue->topic->hub;

        dn__hub_lock(hub);
        /* If something is waiting for it, that is delivered after this call anyway. */
        if (!observer->is_cancelled && observer->seen == observer->queue->topic->sequence)
                deliver_once(observer);
        dn__hub_unlock_and_run(hub);
}

void dn_observer_cancel(dn_observer *observer)
{
        DN__GATE();
        dn__hub *hub = hub_of(observer);
        dn_observer *cancelled;

        if (!hub)
                return;
        dn__hub_lock(hub);
        cancelled = dn__observer_mark_cancelled(observer);
        dn__hub_unlock(hub);
        dn__delivery_end(cancelled);
}

void dn_observer_cancel_wait(dn_observer *observer)
{
        DN__GATE();
        dn__hub *hub = hub_of(observer);

        if (!hub)
                return;
        dn_observer_cancel(observer);
        dn__hub_lock(hub);
        while (observer->n_pins > dn__delivery_count_own(observer))
                (void)dn__hub_wait(hub, DN__NEVER);
        dn__hub_unlock(hub);
}
