/* Posting on the local center: on the thread of the poster, before the post returns. */
#include "center/engine.h"
#include "center/topic.h"
#include "util/hash.h"

/* A delivery walks two lists at a time, the observers of the name and those of all names, always
 * on the side of the one that was registered first. */
typedef struct walk {
        dn__cursor by_name;
        dn__cursor by_all;
        uint64_t last_id;    /* of all observers, when the post began */
        uint64_t invoked_id; /* the last one; a replacement has the id of what it replaces */
} walk;

static void walk_init(dn__engine *engine, dn__cursor *cursor, const char *name,
                      size_t n_name_bytes) DN__REQUIRES(&engine->lock)
{
        dn__topic *topic = dn__topic_find(engine, dn__hash64(name, n_name_bytes), name,
                                          n_name_bytes);
        dn__group *group = topic ? dn__topic_find_group(topic, NULL) : NULL;

        if (!group)
                return;
        dn__group_ref(group);
        dn__cursor_init(cursor, group);
}

static dn__cursor *walk_next(walk *walk)
{
        if (!walk->by_name.at)
                return walk->by_all.at ? &walk->by_all : NULL;
        if (!walk->by_all.at || walk->by_name.at->id < walk->by_all.at->id)
                return &walk->by_name;
        return &walk->by_all;
}

static void walk_deinit(walk *walk)
{
        if (walk->by_name.group)
                dn__group_unref(walk->by_name.group);
        if (walk->by_all.group)
                dn__group_unref(walk->by_all.group);
}

/* An observer that was added after the post began is not called, nor is one that has replaced an
 * observer that was called. */
static bool matches(const walk *walk, const dn_observer *observer, const void *object)
{
        return !observer->is_cancelled && observer->id <= walk->last_id &&
               observer->id > walk->invoked_id &&
               (!observer->object || observer->object == object);
}

static void visit(dn__engine *engine, walk *walk, dn__cursor *cursor, const dn_event *event)
        DN__REQUIRES(&engine->lock)
{
        dn__remains remains = { 0 };

        if (matches(walk, cursor->at, event->object)) {
                walk->invoked_id = cursor->at->id;
                dn__group_invoke(engine, cursor->at, event);
        }
        dn__cursor_advance(cursor, &remains);
        if (!remains.observer)
                return;
        dn__lock_release(&engine->lock);
        dn__remains_dispose(&remains);
        dn__lock_acquire(&engine->lock);
}

void dn__engine_post_local(dn__engine *engine, const char *name, size_t n_name_bytes,
                           const void *object, const dn_dict *user_info)
{
        dn_event event = { engine->center, name, object, user_info, 1 };
        dn__cursor *cursor;
        walk walk = { 0 };

        dn__lock_acquire(&engine->lock);
        walk.last_id = engine->last_observer_id;
        walk_init(engine, &walk.by_name, name, n_name_bytes);
        walk_init(engine, &walk.by_all, "", 0);
        while ((cursor = walk_next(&walk)))
                visit(engine, &walk, cursor, &event);
        dn__lock_release(&engine->lock);
        walk_deinit(&walk);
}
