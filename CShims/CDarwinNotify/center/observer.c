/* An observer: creation, linking into its inbox, unlinking. */
#include "center/observer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "util/call.h"

int dn__observer_new(dn__inbox *inbox, const void *object, dn_handler handler,
                     dn_observer **ret_observer)
{
        dn_observer *observer = calloc(1, sizeof(*observer));

        if (!observer)
                return -ENOMEM;
        atomic_init(&observer->n_refs, 1);
        observer->inbox = inbox;
        observer->object = object;
        observer->handler = handler;
        dn__inbox_ref(inbox);
        *ret_observer = observer;
        return 0;
}

dn_observer *dn_observer_ref(dn_observer *observer)
{
        if (observer)
                atomic_fetch_add_explicit(&observer->n_refs, 1, memory_order_relaxed);
        return observer;
}

dn_observer *dn_observer_unref(dn_observer *observer)
{
        DN__CALL();
        if (!observer ||
            atomic_fetch_sub_explicit(&observer->n_refs, 1, memory_order_acq_rel) != 1)
                return NULL;
        dn__backlog_free(observer->backlog);
        dn__inbox_unref(observer->inbox);
        free(observer);
        return NULL;
}

int dn__observer_compare(const void *left, const void *right)
{
        const dn_observer *a = *(dn_observer *const *)left, *b = *(dn_observer *const *)right;

        return a->id < b->id ? -1 : a->id > b->id;
}

void dn__handler_destroy(dn_handler handler)
{
        if (handler.destroy)
                handler.destroy(handler.context);
}

/* --- The inbox's list ---------------------------------------------------------------------- */

void dn__observer_link(dn_observer *observer, dn__link *behind)
{
        dn__inbox *inbox = observer->inbox;
        dn__topic *topic = inbox->topic;

        assert(!dn__link_is_linked(&observer->link));
        if (dn__list_is_empty(&inbox->observers)) {
                dn__list_append(&topic->inboxes, &inbox->link);
                topic->n_holds++;
        }
        topic->hub->n_observers++;
        dn__center_retain(topic->hub->center);
        dn__list_insert(behind, &dn_observer_ref(observer)->link);
}

void dn__observer_unlink(dn_observer *observer, dn__unlinked *ret_unlinked)
{
        dn__inbox *inbox = observer->inbox;

        assert(observer->n_pins == 0 && dn__link_is_linked(&observer->link));
        dn__list_remove(&observer->link);
        inbox->topic->hub->n_observers--;
        ret_unlinked->observer = observer;
        if (!dn__list_is_empty(&inbox->observers))
                return;
        dn__list_remove(&inbox->link);
        ret_unlinked->topic = dn__topic_release(inbox->topic);
}

void dn__observer_mark_cancelled(dn_observer *observer, dn__unlinked *ret_unlinked)
{
        if (observer->is_cancelled)
                return;
        observer->is_cancelled = true;
        if (observer->n_pins == 0)
                dn__observer_unlink(observer, ret_unlinked);
}

void dn__unlinked_dispose(dn__unlinked *unlinked)
{
        dn__hub *hub;

        if (!unlinked->observer)
                return;
        hub = unlinked->observer->inbox->topic->hub;
        dn__hub_ref(hub);
        if (unlinked->observer->backlog) {
                dn__hub_lock(hub);
                dn__backlog_clear(unlinked->observer->backlog);
                dn__hub_unlock(hub);
        }
        dn__topic_retire(unlinked->topic);
        dn__handler_destroy(unlinked->observer->handler);
        (void)dn_observer_unref(unlinked->observer);
        dn__center_release(hub->center);
        dn__hub_unref(hub);
        *unlinked = (dn__unlinked){ 0 };
}
