/* The local center: delivers inside the process, on the poster's thread, before the post
 * returns. */
#include "delivery/delivery.h"
#include "delivery/hub.h"
#include "delivery/queue.h"
#include "delivery/topic.h"

static const dn__center_ops local_ops;

dn_center *dn_center_local(void)
{
        static dn_center center = { .ops = &local_ops, .n_refs = 1 };

        return &center;
}

/* A delivery walks two lists together, the observers of the name and those of all names, always
 * taking the one registered first. */
typedef struct walk {
        dn__cursor by_name;
        dn__cursor by_all;
        uint64_t last_id;    /* the newest observer when the post began */
        uint64_t invoked_id; /* the last one; a replacement inherits its ID */
} walk;

static void walk_init(dn__hub *hub, dn__cursor *cursor, const dn__name *name) DN__HUB_LOCKED
{
        dn__topic *topic = dn__topic_find(hub, name);
        dn__post_queue *queue = topic ? dn__post_queue_find(topic, NULL) : NULL;

        if (queue)
                dn__cursor_init(cursor, dn__post_queue_ref(queue));
}

static dn__cursor *walk_next(walk *walk)
{
        if (!walk->by_name.at)
                return walk->by_all.at ? &walk->by_all : NULL;
        if (!walk->by_all.at || walk->by_name.at->id < walk->by_all.at->id)
                return &walk->by_name;
        return &walk->by_all;
}

/* Skips an observer added after the post began, or one that replaced an observer already called. */
static bool is_addressed(const walk *walk, const dn_observer *observer, const dn__post *post)
        DN__HUB_LOCKED
{
        return !observer->is_cancelled && observer->id <= walk->last_id &&
               observer->id > walk->invoked_id &&
               (!observer->object || observer->object == post->body.object);
}

static int post_local(dn__hub *hub, dn__post *post)
{
        dn_event event = {
                .center = hub->center,
                .name = post->name.text,
                .object = post->body.object,
                .user_info = post->body.user_info,
                .n_posts = 1,
        };
        dn__cursor *cursor;
        walk walk = { 0 };

        dn__hub_lock(hub);
        walk.last_id = hub->last_observer_id;
        walk_init(hub, &walk.by_name, &post->name);
        walk_init(hub, &walk.by_all, &dn__name_any);
        for (; (cursor = walk_next(&walk)); dn__cursor_advance(cursor)) {
                if (!is_addressed(&walk, cursor->at, post))
                        continue;
                walk.invoked_id = cursor->at->id;
                dn__delivery_invoke(cursor->at, &event);
        }
        dn__hub_unlock(hub);
        dn__post_queue_unref(walk.by_name.queue);
        dn__post_queue_unref(walk.by_all.queue);
        return 0;
}

static const dn__center_ops local_ops = {
        .reach = DN__REACH_PROCESS,
        .objects = DN_OBJECTS_POINTERS,
        .close = dn__hub_unref,
        .post = post_local,
};
