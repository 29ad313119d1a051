/* One observer: a handler, and how far it has been told of the posts of its name. */
#include "center/observer.h"

#include <errno.h>
#include <stdlib.h>

#include "center/engine.h"
#include "center/group.h"
#include "center/topic.h"

/* The invocations that this thread is inside of, innermost first. */
typedef struct frame {
        const dn_observer *observer;
        struct frame *outer;
} frame;

static _Thread_local frame *frames;

int dn__observer_new(dn__group *group, const void *object, dn_handler handler,
                     dn_observer **ret_observer)
{
        dn_observer *observer = calloc(1, sizeof(*observer));

        if (!observer)
                return -ENOMEM;
        atomic_init(&observer->n_refs, 1);
        observer->group = group;
        observer->object = object;
        observer->handler = handler;
        dn__group_ref(group);
        *ret_observer = observer;
        return 0;
}

void dn__handler_destroy(dn_handler handler)
{
        if (handler.destroy)
                handler.destroy(handler.context);
}

void dn__observer_invoke(dn_observer *observer, const dn_event *event)
{
        frame frame = { observer, frames };

        frames = &frame;
        observer->handler.invoke(event, observer->handler.context);
        frames = frame.outer;
}

static unsigned n_own_frames(const dn_observer *observer)
{
        unsigned n = 0;

        for (const frame *frame = frames; frame; frame = frame->outer)
                n += frame->observer == observer;
        return n;
}

dn_observer *dn_observer_ref(dn_observer *observer)
{
        if (observer)
                atomic_fetch_add_explicit(&observer->n_refs, 1, memory_order_relaxed);
        return observer;
}

dn_observer *dn_observer_unref(dn_observer *observer)
{
        if (!observer ||
            atomic_fetch_sub_explicit(&observer->n_refs, 1, memory_order_acq_rel) != 1)
                return NULL;
        dn__group_unref(observer->group);
        free(observer);
        return NULL;
}

/* Returns NULL for an observer of the parent process, which is silent here already. */
static dn__engine *engine_of(const dn_observer *observer)
{
        dn__engine *engine = observer ? observer->group->topic->engine : NULL;

        return engine && dn__engine_is_current(engine) ? engine : NULL;
}

/* All that it has not seen, or the last post once more, is one delivery. */
static void deliver_once(dn_observer *observer, dn__batch *batch)
{
        dn__group *group = observer->group;

        observer->seen = group->topic->sequence - 1;
        if (!observer->n_suspends)
                dn__group_push(group, observer->seen, 1, batch);
}

void dn__observer_suspend(dn_observer *observer)
{
        dn__engine *engine = observer->group->topic->engine;

        dn__lock_acquire(&engine->lock);
        observer->n_suspends++;
        dn__lock_release(&engine->lock);
}

void dn__observer_resume(dn_observer *observer)
{
        dn__engine *engine = observer->group->topic->engine;
        dn__batch batch = { 0 };

        dn__lock_acquire(&engine->lock);
        if (observer->n_suspends && --observer->n_suspends == 0 && !observer->is_cancelled &&
            observer->seen < observer->group->topic->sequence)
                deliver_once(observer, &batch);
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
}

void dn__observer_tell(dn_observer *observer)
{
        dn__engine *engine = observer->group->topic->engine;
        dn__batch batch = { 0 };

        dn__lock_acquire(&engine->lock);
        /* What waits for it already comes after this call, too. */
        if (!observer->is_cancelled && observer->seen == observer->group->topic->sequence)
                deliver_once(observer, &batch);
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
}

void dn_observer_cancel(dn_observer *observer)
{
        dn__engine *engine = engine_of(observer);
        dn__remains remains = { 0 };

        if (!engine)
                return;
        dn__lock_acquire(&engine->lock);
        dn__group_remove(observer, &remains);
        dn__lock_release(&engine->lock);
        dn__remains_dispose(&remains);
}

void dn_observer_cancel_wait(dn_observer *observer)
{
        dn__engine *engine = engine_of(observer);

        if (!engine)
                return;
        dn_observer_cancel(observer);
        dn__lock_acquire(&engine->lock);
        while (observer->n_running > n_own_frames(observer))
                (void)dn__condition_wait(&engine->changed, &engine->lock, DN__NEVER);
        dn__lock_release(&engine->lock);
}
