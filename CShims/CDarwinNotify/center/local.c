/* The local center: delivers inside the process, on the poster's thread, before the post
 * returns. */
#include "delivery/delivery.h"
#include "delivery/hub.h"
#include "delivery/queue.h"
#include "delivery/topic.h"

/* Skips an observer added after the post began, or one that replaced an observer already called and
 * inherited its ID. */
static bool is_addressed(const dn_observer *observer, const dn__post *post, uint64_t called_id,
                         uint64_t last_id) DN__HUB_LOCKED
{
        return !observer->is_cancelled && observer->id <= last_id && observer->id > called_id &&
               (!observer->object || observer->object == post->body.object);
}

static void call_observers(dn__hub *hub, const dn__name *name, const dn__post *post,
                           uint64_t last_id) DN__HUB_LOCKED
{
        dn__topic *topic = dn__topic_find(hub, name);
        dn__post_queue *queue = dn__post_queue_ref(topic ? dn__post_queue_find(topic, NULL) : NULL);
        const dn_event event = {
                .center = hub->center,
                .name = post->name.text,
                .object = post->body.object,
                .user_info = post->body.user_info,
                .n_posts = 1,
                .sender = &hub->own,
        };
        uint64_t called_id = 0;
        dn__cursor cursor = { .queue = queue };
        dn_observer *observer;

        if (!queue)
                return;
        while ((observer = dn__cursor_next(&cursor))) {
                if (!is_addressed(observer, post, called_id, last_id))
                        continue;
                called_id = observer->id;
                dn__delivery_invoke(observer, &event);
        }
        dn__post_queue_unref(queue);
}

static int post_local(dn__hub *hub, dn__post *post)
{
        uint64_t last_id;

        DN__HUB_AUTO_LOCK(hub);
        last_id = hub->last_observer_id;
        call_observers(hub, &post->name, post, last_id);
        call_observers(hub, &dn__name_any, post, last_id);
        return 0;
}

static const dn__center_ops local_ops = {
        .reach = DN__REACH_PROCESS,
        .objects = DN_OBJECTS_POINTERS,
        .close = dn__hub_unref,
        .post = post_local,
};

dn_center *dn_center_local(void)
{
        static dn_center center = { .ops = &local_ops, .n_refs = 1 };

        return &center;
}
