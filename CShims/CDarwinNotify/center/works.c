/* Enqueues works on the observers' executors for items that are due. */
#include "center/works.h"

#include "center/delivery.h"
#include "util/call.h"

static void deliver_item(dn_observer *observer, dn__backlog_item *item) DN__HUB_LOCKED
{
        const dn__post *post = &item->kept->post;
        dn_event event = {
                .center = observer->inbox->topic->hub->center,
                .name = post->name.text,
                .object = post->body.object,
                .user_info = post->body.user_info,
                .n_posts = item->n_posts,
                .n_dropped = item->n_dropped,
        };

        observer->n_pins++;
        dn__delivery_invoke(observer, &event);
        dn__delivery_leave(observer);
}

/* The work enqueued once for each due item. If the executor runs two at once, the second leaves its
 * item to the first. */
static void run_observer(void *argument)
{
        DN__CALL();
        dn_observer *observer = argument;
        dn__hub *hub = observer->inbox->topic->hub;
        dn__backlog *backlog = observer->backlog;
        dn__backlog_item *item;

        /* A forked child may have inherited the work in one of the host's queues. */
        if (!dn__hub_is_current(hub))
                return;
        dn__hub_lock(hub);
        backlog->n_works--;
        backlog->n_begun++;
        while (!backlog->is_running && backlog->n_begun > 0) {
                backlog->n_begun--;
                item = observer->is_cancelled ? NULL : dn__backlog_take(backlog);
                if (!item)
                        continue;
                backlog->is_running = true;
                deliver_item(observer, item);
                backlog->is_running = false;
                dn__hub_unlock(hub);
                dn__backlog_item_free(item);
                dn__hub_lock(hub);
        }
        hub->n_works--;
        dn__hub_unlock(hub);
        (void)dn_observer_unref(observer);
}

/* The executor refused the work. If it accepts a later one, that reports what is missing. */
static void drop_due(dn_observer *observer)
{
        dn__hub *hub = observer->inbox->topic->hub;
        dn__backlog_item *item;

        dn__hub_lock(hub);
        observer->backlog->n_works--;
        item = dn__backlog_take(observer->backlog);
        if (item)
                dn__backlog_note_dropped(observer->backlog, item->n_posts + item->n_dropped);
        hub->n_works--;
        dn__hub_unlock(hub);
        dn__backlog_item_free(item);
        (void)dn_observer_unref(observer);
}

void dn__works_run(dn__crowd *works)
{
        dn_observer **observers = dn__crowd_get(works);

        for (size_t i = 0; i < works->n_observers; i++)
                if (dn__executor_enqueue(observers[i]->inbox->executor, run_observer,
                                         observers[i]) < 0)
                        drop_due(observers[i]);
        dn__crowd_clear(works);
}

void dn__works_add(dn__crowd *works, dn_observer *observer)
{
        dn__backlog *backlog = observer->backlog;

        /* If out of memory, the works of later items deliver these too. */
        while (backlog->n_works < backlog->n_due && dn__crowd_add(works, observer)) {
                (void)dn_observer_ref(observer);
                backlog->n_works++;
                observer->inbox->topic->hub->n_works++;
        }
}
