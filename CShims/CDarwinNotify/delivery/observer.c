/* One observer in its queue. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "delivery/queue.h"
#include "util/gate.h"
#include "util/host.h"

/* The only caller of the destroy hook of a dn_handler. */
static void destroy(const dn_handler *handler)
{
        dn__host_release(handler->destroy, handler->context);
}

/* Once: when the observer was cancelled, or else when it is freed. */
void dn__observer_destroy_handler(dn_observer *observer)
{
        dn_handler handler = observer->handler;

        observer->handler = (dn_handler){ 0 };
        destroy(&handler);
}

dn_observer *dn__observer_new(const dn_handler *handler, const dn__observer_options *options)
        DN__TSA(no_thread_safety_analysis)
{
        size_t n_bytes = options->has_text && options->object ? strlen(options->object) + 1 : 0;
        dn_observer *observer = calloc(1, sizeof(*observer) + n_bytes);

        if (!observer) {
                destroy(handler);
                return NULL;
        }
        atomic_init(&observer->n_refs, 1);
        observer->handler = *handler;
        observer->object = n_bytes ? memcpy(observer->bytes, options->object, n_bytes)
                                   : options->object;
        observer->behavior = options->behavior >= DN_SUSPENSION_DROP &&
                                             options->behavior <= DN_SUSPENSION_DELIVER_IMMEDIATELY
                                     ? options->behavior
                                     : DN_SUSPENSION_COALESCE;
        observer->has_token = options->has_token;
        observer->n_suspends = options->has_token;
        return observer;
}

dn_observer *dn_observer_ref(dn_observer *observer)
{
        if (observer)
                atomic_fetch_add_explicit(&observer->n_refs, 1, memory_order_relaxed);
        return observer;
}

dn_observer *dn_observer_unref(dn_observer *observer)
{
        DN__GATE();
        if (!observer ||
            atomic_fetch_sub_explicit(&observer->n_refs, 1, memory_order_acq_rel) != 1)
                return NULL;
        dn__observer_destroy_handler(observer);
        dn__post_queue_unref(observer->queue);
        free(observer);
        return NULL;
}

uint64_t dn__observer_count_posts(const dn_observer *observer, const dn__payload *payload)
{
        const char *object = payload->post.body.object;

        if (observer->object && !(object && strcmp(observer->object, object) == 0))
                return 0;
        if (!payload->was_suspended || observer->behavior == DN_SUSPENSION_HOLD)
                return payload->n_posts;
        if (payload->is_superseded || observer->behavior == DN_SUSPENSION_DROP)
                return 0;
        return payload->n_equal;
}

void dn__observer_link(dn_observer *observer, dn__post_queue *queue, dn__link *behind)
{
        dn__topic *topic = queue->topic;

        assert(!observer->queue);
        if (dn__list_is_empty(&queue->observers)) {
                dn__list_append(&topic->queues, &queue->link);
                topic->n_holds++;
        }
        atomic_fetch_add(&topic->hub->n_observers, 1);
        dn__center_retain(topic->hub->center);
        observer->queue = dn__post_queue_ref(queue);
        dn__list_insert(behind, &dn_observer_ref(observer)->link);
}

void dn__observer_unlink(dn_observer *observer)
{
        dn__post_queue *queue = observer->queue;

        assert(observer->n_pins == 0 && dn__link_is_linked(&observer->link));
        dn__list_remove(&observer->link);
        atomic_fetch_sub(&queue->topic->hub->n_observers, 1);
        if (!dn__list_is_empty(&queue->observers))
                return;
        dn__list_remove(&queue->link);
        dn__topic_release(queue->topic);
}

dn_observer *dn__observer_mark_cancelled(dn_observer *observer)
{
        if (observer->is_cancelled)
                return NULL;
        observer->is_cancelled = true;
        if (observer->n_pins > 0)
                return NULL;
        observer->n_pins = 1;
        return observer;
}

void dn__observer_release(dn_observer *unlinked)
{
        dn_center *center = unlinked->queue->topic->hub->center;

        (void)dn_observer_unref(unlinked);
        dn__center_release(center);
}
