/* Calls the observers of an inbox in registration order. */
#include "center/delivery.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/call.h"

/* The invocations that this thread is inside of, innermost first. */
typedef struct frame {
        const dn_observer *observer;
        struct frame *outer;
} frame;

static _Thread_local frame *frames;

unsigned dn__delivery_count_own(const dn_observer *observer)
{
        unsigned n = 0;

        for (const frame *frame = frames; frame; frame = frame->outer)
                n += frame->observer == observer;
        return n;
}

/* --- Invoking ------------------------------------------------------------------------------ */

/* A thread that exits in a callback never finishes what the library was doing with it: other
 * callbacks, references and, on the library's threads, all later work. */
static void refuse_thread_exit(void *context)
{
        static const char text[] =
                "libdarwinnotify: a callback terminated its thread; callbacks must return\n";

        (void)context;
        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
        abort();
}

static void invoke(dn_observer *observer, const dn_event *event)
{
        frame frame = { observer, frames };

        frames = &frame;
        pthread_cleanup_push(refuse_thread_exit, NULL);
        observer->handler.invoke(event, observer->handler.context);
        pthread_cleanup_pop(0);
        frames = frame.outer;
}

void dn__delivery_invoke(dn_observer *observer, const dn_event *event)
{
        dn__hub *hub = observer->inbox->topic->hub;

        observer->n_running++;
        dn__hub_unlock(hub);
        invoke(observer, event);
        dn__hub_lock(hub);
        observer->n_running--;
        if (observer->is_cancelled)
                dn__condition_broadcast(&hub->changed);
}

/* --- Walking the list ---------------------------------------------------------------------- */

static dn_observer *observer_at(const dn__inbox *inbox, dn__link *link) DN__HUB_LOCKED
{
        return link == &inbox->observers ? NULL : DN__CONTAINER(link, dn_observer, link);
}

static void cursor_move(dn__cursor *cursor, dn__link *link) DN__HUB_LOCKED
{
        dn_observer *observer = observer_at(cursor->inbox, link);

        while (observer && observer->is_cancelled)
                observer = observer_at(cursor->inbox, observer->link.next);
        if (observer)
                observer->n_pins++;
        cursor->at = observer;
}

void dn__cursor_init(dn__cursor *cursor, dn__inbox *inbox)
{
        cursor->inbox = inbox;
        cursor_move(cursor, inbox->observers.next);
}

void dn__delivery_leave(dn_observer *left)
{
        dn__hub *hub = left->inbox->topic->hub;
        dn__unlinked unlinked = { 0 };

        if (--left->n_pins > 0 || !left->is_cancelled)
                return;
        dn__observer_unlink(left, &unlinked);
        dn__hub_unlock(hub);
        dn__unlinked_dispose(&unlinked);
        dn__hub_lock(hub);
}

void dn__cursor_advance(dn__cursor *cursor)
{
        dn_observer *left = cursor->at;

        cursor_move(cursor, left->link.next);
        dn__delivery_leave(left);
}

/* --- On the executor ----------------------------------------------------------------------- */

static void deliver(dn__inbox *inbox, uint64_t sequence) DN__HUB_LOCKED
{
        dn__topic *topic = inbox->topic;
        dn_event event = { .center = topic->hub->center, .name = topic->name.text };
        dn__cursor cursor;

        for (dn__cursor_init(&cursor, inbox); cursor.at; dn__cursor_advance(&cursor)) {
                dn_observer *observer = cursor.at;

                if (observer->seen >= sequence || observer->is_cancelled || observer->n_suspends)
                        continue;
                event.n_posts = sequence - observer->seen;
                observer->seen = sequence;
                dn__delivery_invoke(observer, &event);
        }
}

/* The work enqueued once for each waiting post. If the executor runs two at once, the second leaves
 * its post to the first. */
static void run_inbox(void *argument)
{
        DN__CALL();
        dn__inbox *inbox = argument;
        dn__hub *hub = inbox->topic->hub;

        /* A forked child may have inherited the work in one of the host's queues. */
        if (!dn__hub_is_current(hub))
                return;
        dn__hub_lock(hub);
        inbox->n_due++;
        if (!inbox->is_running) {
                inbox->is_running = true;
                for (; inbox->n_due > 0; inbox->n_due--)
                        deliver(inbox, dn__inbox_pop(inbox));
                inbox->is_running = false;
        }
        hub->n_works--;
        dn__hub_unlock(hub);
        dn__inbox_unref(inbox);
}

/* The executor refused the work: the host has closed it, so nothing more is delivered there. */
static void drop_waiting(dn__inbox *inbox)
{
        dn__hub *hub = inbox->topic->hub;

        dn__hub_lock(hub);
        (void)dn__inbox_pop(inbox);
        hub->n_works--;
        dn__hub_unlock(hub);
        dn__inbox_unref(inbox);
}

void dn__batch_run(dn__batch *batch)
{
        struct dn__batch_item *items = batch->items ? batch->items : batch->fixed;

        for (size_t i = 0; i < batch->n_items; i++)
                for (unsigned j = 0; j < items[i].n_works; j++)
                        if (dn__executor_enqueue(items[i].inbox->executor, run_inbox,
                                                 items[i].inbox) < 0)
                                drop_waiting(items[i].inbox);
        free(batch->items);
}
