/* Calls the observers of a queue in registration order. */
#include "delivery/delivery.h"

#include "util/gate.h"
#include "util/host.h"
#include "util/probe.h"

/* The functions of handlers that this thread is inside of, innermost first. */
typedef struct invocation {
        const dn_observer *observer;
        const dn_event *event; /* NULL: the destroy hook */
        struct invocation *outer;
} invocation;

static _Thread_local invocation *invocations;

unsigned dn__delivery_count_own(const dn_observer *observer)
{
        unsigned n = 0;

        for (const invocation *own = invocations; own; own = own->outer)
                n += own->observer == observer;
        return n;
}

/* --- Invoking ------------------------------------------------------------------------------ */

/* The only call of a dn_handler. */
static void run_handler(void *context)
{
        invocation *invocation = context;
        const dn_handler *handler = &invocation->observer->handler;

        invocations = invocation;
        handler->invoke(invocation->event, handler->context);
        invocations = invocation->outer;
}

void dn__delivery_invoke(dn_observer *observer, const dn_event *event)
{
        const dn__topic *topic = observer->queue->topic;
        dn__hub *hub = topic->hub;
        invocation invocation = { observer, event, invocations };

        /* The generation of the last post that the observer has received. */
        DN__PROBE(deliver_start, event->name,
                  topic->slot ? topic->generation - (topic->sequence - observer->seen) : 0,
                  event->n_posts);
        dn__hub_unlock(hub);
        /* Posters of the local center call the handlers themselves, also while they exit. */
        if (observer->queue->executor)
                (void)dn__host_handle(run_handler, &invocation);
        else
                dn__host_call(run_handler, &invocation);
        dn__hub_lock(hub);
        DN__PROBE(deliver_end, event->name);
}

/* --- Ending -------------------------------------------------------------------------------- */

static void destroy_handler(dn_observer *observer)
{
        invocation invocation = { observer, NULL, invocations };

        invocations = &invocation;
        dn__observer_destroy_handler(observer);
        invocations = invocation.outer;
}

/* Returns whether the caller, which had one of its pins, has unlinked the observer. */
static bool leave(dn_observer *left) DN__HUB_LOCKED
{
        left->n_pins--;
        if (!left->is_cancelled)
                return false;
        dn__condition_broadcast(&left->queue->topic->hub->changed);
        if (left->n_pins > 0)
                return false;
        dn__observer_unlink(left);
        return true;
}

void dn__delivery_end(dn_observer *cancelled)
{
        dn__hub *hub = cancelled ? cancelled->queue->topic->hub : NULL;

        if (!hub)
                return;
        destroy_handler(cancelled);
        dn__hub_lock(hub);
        (void)leave(cancelled); /* ours is the only pin: a cancelled observer gets no others */
        dn__hub_unlock(hub);
        dn__observer_release(cancelled);
}

/* --- Walking the list ---------------------------------------------------------------------- */

/* An observer keeps its place until its hook has run, so that no other one is pinned meanwhile. */
dn_observer *dn__cursor_next(dn__cursor *cursor)
{
        dn__hub *hub = cursor->queue->topic->hub;
        dn__link *end = &cursor->queue->observers;
        dn_observer *left = cursor->at, *next = NULL;

        if (left && left->is_cancelled && left->n_pins == 1) {
                dn__hub_unlock(hub);
                destroy_handler(left);
                dn__hub_lock(hub);
        }
        for (dn__link *link = left ? left->link.next : end->next; link != end && !next;
             link = link->next) {
                next = DN__CONTAINER(link, dn_observer, link);
                if (next->is_cancelled)
                        next = NULL;
                else
                        next->n_pins++;
        }
        cursor->at = next;
        /* The delivery keeps the queue and the center. */
        if (left && leave(left))
                dn__observer_release(left);
        return next;
}

/* --- On the executor ----------------------------------------------------------------------- */

/* Says how many posts an item stands for to an observer. Returns false if it does not receive
 * it. */
static bool receive(dn_observer *observer, const dn__queue_item *item, dn_event *event)
        DN__HUB_LOCKED
{
        const dn__payload *payload = item->payload;

        if (observer->seen >= item->sequence || observer->is_cancelled || observer->n_suspends)
                return false;
        event->n_posts = payload ? dn__observer_count_posts(observer, payload)
                                 : item->sequence - observer->seen;
        observer->seen = item->sequence;
        if (!payload)
                return true;
        observer->n_dropped += payload->n_lost;
        if (event->n_posts == 0)
                return false;
        event->n_dropped = observer->n_dropped;
        observer->n_dropped = 0;
        event->may_have_missed = payload->n_losses != observer->n_losses;
        observer->n_losses = payload->n_losses;
        return true;
}

/* Returns who made the last post that an item stands for, perhaps in `other`; NULL if that is not
 * known. */
static const dn_sender *find_sender(const dn__post_queue *queue, const dn__queue_item *item,
                                    dn_sender *other)
{
        const dn__origin *origin = item->payload ? &item->payload->post.origin : NULL;

        if (origin ? origin->is_own : item->is_own)
                return &queue->topic->hub->own;
        if (!origin || !origin->sender)
                return NULL;
        *other = (dn_sender){ .name = origin->sender, .user = UINT32_MAX };
        return other;
}

static void deliver(dn__post_queue *queue, const dn__queue_item *item) DN__HUB_LOCKED
{
        dn_sender other;
        const dn_sender *sender = find_sender(queue, item, &other);
        const dn__post *post = item->payload ? &item->payload->post : NULL;
        dn_event event = {
                .center = queue->topic->hub->center,
                .name = post ? post->name.text : queue->topic->name.text,
                .object = post ? post->body.object : NULL,
                .user_info = post ? post->body.user_info : NULL,
        };
        dn__cursor cursor = { .queue = queue };
        dn_observer *observer;

        while ((observer = dn__cursor_next(&cursor)))
                if (receive(observer, item, &event)) {
                        event.sender = event.n_posts == 1 ? sender : NULL;
                        dn__delivery_invoke(observer, &event);
                }
}

/* Delivers an item for each run that has begun. */
static void deliver_begun(dn__post_queue *queue) DN__HUB_LOCKED
{
        dn__queue_item item;

        queue->is_delivering = true;
        while (queue->n_begun > 0) {
                queue->n_begun--;
                if (!dn__post_queue_take(queue, &item))
                        continue;
                deliver(queue, &item);
                if (!item.payload)
                        continue;
                dn__hub_unlock(queue->topic->hub);
                dn__payload_unref(item.payload);
                dn__hub_lock(queue->topic->hub);
        }
        queue->is_delivering = false;
}

/* The work that an executor runs once for each item. If two runs overlap, the first delivers both
 * items. */
static void run_queue(void *argument)
{
        DN__GATE_FOR_WORK();
        dn__post_queue *queue = argument;
        dn__hub *hub = queue->topic->hub;
        dn_center *center;

        /* A forked child may have inherited the run in one of the host's queues. */
        if (!dn__hub_is_current(hub))
                return;
        dn__hub_lock(hub);
        center = hub->center;
        queue->n_runs--;
        queue->n_begun++;
        if (!queue->is_delivering)
                deliver_begun(queue);
        hub->n_runs--;
        dn__hub_unlock(hub);
        dn__post_queue_unref(queue);
        dn__center_release(center);
}

/* Handles a run that the executor refused. The next accepted run reports the missing posts. */
static void refuse_run(dn__post_queue *queue)
{
        dn__hub *hub = queue->topic->hub;
        dn__queue_item item = { 0 };
        dn_center *center;

        dn__hub_lock(hub);
        center = hub->center;
        queue->n_runs--;
        if (dn__post_queue_take(queue, &item) && item.payload)
                dn__post_queue_miss(queue, item.payload);
        hub->n_runs--;
        dn__hub_unlock(hub);
        dn__payload_unref(item.payload);
        dn__post_queue_unref(queue);
        dn__center_release(center);
}

static void run_ready(dn__hub *hub) DN__RELEASES(&dn__hub_guard)
{
        for (;;) {
                dn__post_queue *queue = DN__LIST_FIRST(dn__post_queue, &hub->ready, ready_link);
                uint32_t n_runs = 0;
                bool has_more;

                if (queue) {
                        dn__list_remove(&queue->ready_link);
                        n_runs = queue->n_ready;
                        queue->n_ready = 0;
                }
                has_more = !dn__list_is_empty(&hub->ready);
                dn__hub_unlock(hub);
                while (n_runs-- > 0) /* each keeps the queue alive */
                        if (dn__executor_enqueue(queue->executor, run_queue, queue) < 0)
                                refuse_run(queue);
                if (!has_more)
                        return;
                dn__hub_lock(hub);
        }
}

void dn__hub_unlock_and_run(dn__hub *hub)
{
        dn__link dropped;

        dn__list_move(&hub->dropped, &dropped);
        run_ready(hub);
        dn__payloads_free(&dropped);
}
