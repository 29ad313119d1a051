/* Registration of observers. */
#include <errno.h>
#include <unistd.h>

#include "bus/access.h"
#include "bus/name.h"
#include "center/engine.h"
#include "center/topic.h"

/* Links a new observer into the group of its executor, which is made if need be: in the place of
 * `old`, where that is in the same group, else as the last one. The caller gets a reference. Under
 * the lock. */
static int link_observer(dn__topic *topic, const void *object, dn_handler handler,
                         dn__executor *executor, dn_observer *old, dn_observer **ret_observer)
        DN__TSA(no_thread_safety_analysis)
{
        dn__group *group = dn__topic_find_group(topic, executor);
        dn_observer *observer;
        int r;

        if (group)
                dn__group_ref(group);
        else if ((r = dn__group_new(topic, executor, &group)) < 0)
                return r;
        r = dn__observer_new(group, object, handler, &observer);
        if (r == 0) {
                bool is_in_place = old && old->group == group;

                observer->id = is_in_place ? old->id : ++topic->engine->last_observer_id;
                observer->seen = old ? old->seen : topic->sequence;
                dn__group_add(group, observer,
                              is_in_place ? &old->link : group->observers.previous);
                *ret_observer = observer;
        }
        dn__group_unref(group);
        return r;
}

int dn__topic_observe(dn__topic *topic, const void *object, dn_handler handler,
                      dn__executor *executor, bool is_suspended, dn_observer **ret_observer)
{
        dn__engine *engine = topic->engine;
        dn_observer *observer = NULL;
        dn__batch batch = { 0 };
        int r;

        dn__lock_acquire(&engine->lock);
        /* The observers that are there are told first of what was posted before. */
        dn__topic_catch_up(topic, &batch);
        r = link_observer(topic, object, handler, executor, NULL, &observer);
        if (r == 0)
                observer->n_suspends = is_suspended;
        if (r == 0 && ret_observer)
                *ret_observer = dn_observer_ref(observer);
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
        (void)dn_observer_unref(observer);
        return r;
}

int dn__engine_hold(dn__engine *engine, const char *name, size_t n_name_bytes,
                    dn__topic **ret_topic)
{
        bool is_local = engine->center->is_local || dn__name_is_local(name);
        uint64_t deadline_us = 0;
        int r;

        if (is_local)
                return dn__topic_hold(engine, name, n_name_bytes, true, ret_topic);
        if (dn__access_is_reserved(name) && !dn__access_may_observe(name, geteuid()))
                return -EACCES;
        if (dn__service_ensure(engine->service, &deadline_us) == -ENOMEM)
                return -ENOMEM;
        r = dn__topic_hold(engine, name, n_name_bytes, false, ret_topic);
        if (r < 0)
                return r;
        r = dn__service_await_rule(engine->service, (*ret_topic)->rule, &deadline_us);
        if (r == -ENOBUFS)
                dn__topic_refuse(*ret_topic);
        return r;
}

int dn__engine_observe(dn__engine *engine, const char *name, size_t n_name_bytes,
                       const void *object, dn_handler handler, dn__executor *executor,
                       dn_observer **ret_observer)
{
        dn__topic *topic;
        int r, added = 0;

        r = dn__engine_hold(engine, name, n_name_bytes, &topic);
        if (r == 0 || r == -ENOTCONN) {
                added = dn__topic_observe(topic, object, handler, executor, false,
                                          ret_observer);
                dn__topic_give_back(topic);
        }
        if (added < 0)
                r = added;
        if (r < 0 && r != -ENOTCONN)
                dn__handler_destroy(handler);
        (void)dn__executor_unref(executor);
        return r;
}

static int replace(dn__engine *engine, dn_observer *old, dn_handler handler,
                   dn__executor *executor, dn_observer **ret_observer)
{
        dn__topic *topic = old->group->topic;
        dn_observer *observer = NULL;
        dn__remains remains = { 0 };
        dn__batch batch = { 0 };
        int r = -EINVAL;

        dn__lock_acquire(&engine->lock);
        if (!old->is_cancelled)
                r = link_observer(topic, old->object, handler, executor, old, &observer);
        if (r == 0) {
                /* What the old one was not told of waits for the new one, where that is not
                 * waiting in the same group already. */
                if (observer->group != old->group)
                        dn__group_push(observer->group, old->seen, topic->sequence - old->seen,
                                       &batch);
                if (ret_observer)
                        *ret_observer = dn_observer_ref(observer);
                dn__group_remove(old, &remains);
        }
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
        dn__remains_dispose(&remains);
        (void)dn_observer_unref(observer);
        return r;
}

int dn_observer_replace(dn_observer *observer, dn_handler handler, const dn_executor *executor,
                        dn_observer **ret_observer)
{
        dn__engine *engine = observer ? observer->group->topic->engine : NULL;
        dn__executor *shared = NULL;
        int r = -EINVAL;

        if (engine && dn__engine_is_current(engine) && handler.invoke &&
            !(engine->center->is_local && executor)) {
                r = engine->center->is_local
                            ? 0
                            : dn__executor_new(executor, engine->service, &shared);
                if (r == 0)
                        r = replace(engine, observer, handler, shared, ret_observer);
        } else {
                dn__executor_consume(executor);
        }
        if (r < 0)
                dn__handler_destroy(handler);
        (void)dn__executor_unref(shared);
        return r;
}
