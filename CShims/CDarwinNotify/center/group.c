/* The observers of one name on one executor, which get its posts in registration order. */
#include "center/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "center/topic.h"

int dn__group_new(dn__topic *topic, dn__executor *executor, dn__group **ret_group)
{
        dn__group *group = calloc(1, sizeof(*group));

        if (!group)
                return -ENOMEM;
        atomic_init(&group->n_refs, 1);
        group->topic = topic;
        group->executor = dn__executor_ref(executor);
        dn__list_init(&group->observers);
        dn__topic_ref(topic);
        *ret_group = group;
        return 0;
}

void dn__group_ref(dn__group *group)
{
        atomic_fetch_add_explicit(&group->n_refs, 1, memory_order_relaxed);
}

void dn__group_unref(dn__group *group)
{
        if (atomic_fetch_sub_explicit(&group->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        (void)dn__executor_unref(group->executor);
        dn__topic_unref(group->topic);
        free(group);
}

/* --- Observers ---------------------------------------------------------------------------- */

static dn_observer *observer_at(const dn__group *group, dn__link *link)
{
        return link == &group->observers ? NULL : DN__CONTAINER(link, dn_observer, link);
}

void dn__group_add(dn__group *group, dn_observer *observer, dn__link *behind)
{
        dn__topic *topic = group->topic;

        if (dn__list_is_empty(&group->observers)) {
                dn__list_append(&topic->groups, &group->link);
                topic->n_holds++;
        }
        topic->engine->n_observers++;
        dn__center_retain(topic->engine->center);
        dn__list_insert(behind, &dn_observer_ref(observer)->link);
}

static void unlink_observer(dn_observer *observer, dn__remains *remains)
{
        dn__group *group = observer->group;

        dn__list_remove(&observer->link);
        group->topic->engine->n_observers--;
        remains->observer = observer;
        if (!dn__list_is_empty(&group->observers))
                return;
        dn__list_remove(&group->link);
        remains->topic = dn__topic_release(group->topic);
}

void dn__group_remove(dn_observer *observer, dn__remains *remains)
{
        if (observer->is_cancelled)
                return;
        observer->is_cancelled = true;
        if (observer->n_pins == 0)
                unlink_observer(observer, remains);
}

void dn__remains_dispose(dn__remains *remains)
{
        dn__engine *engine;

        if (!remains->observer)
                return;
        engine = remains->observer->group->topic->engine;
        dn__engine_ref(engine);
        dn__topic_retire(remains->topic);
        dn__handler_destroy(remains->observer->handler);
        (void)dn_observer_unref(remains->observer);
        dn__center_release(engine->center);
        dn__engine_unref(engine);
        *remains = (dn__remains){ 0 };
}

/* --- Delivery ----------------------------------------------------------------------------- */

static void cursor_move(dn__cursor *cursor, dn__link *link)
{
        dn_observer *observer = observer_at(cursor->group, link);

        while (observer && observer->is_cancelled)
                observer = observer_at(cursor->group, observer->link.next);
        if (observer)
                observer->n_pins++;
        cursor->at = observer;
}

void dn__cursor_init(dn__cursor *cursor, dn__group *group)
{
        cursor->group = group;
        cursor_move(cursor, group->observers.next);
}

void dn__cursor_advance(dn__cursor *cursor, dn__remains *remains)
{
        dn_observer *left = cursor->at;

        cursor_move(cursor, left->link.next);
        if (--left->n_pins == 0 && left->is_cancelled)
                unlink_observer(left, remains);
}

void dn__group_invoke(dn__engine *engine, dn_observer *observer, const dn_event *event)
        DN__TSA(no_thread_safety_analysis)
{
        observer->n_running++;
        dn__lock_release(&engine->lock);
        dn__observer_invoke(observer, event);
        dn__lock_acquire(&engine->lock);
        observer->n_running--;
        if (observer->is_cancelled)
                dn__condition_broadcast(&engine->changed);
}

static void deliver(dn__engine *engine, dn__group *group, uint64_t sequence)
        DN__REQUIRES(&engine->lock)
{
        dn_event event = { .center = engine->center, .name = group->topic->name };
        dn__remains remains = { 0 };
        dn__cursor cursor;

        dn__cursor_init(&cursor, group);
        while (cursor.at) {
                if (cursor.at->seen < sequence && !cursor.at->is_cancelled &&
                    !cursor.at->n_suspends) {
                        event.n_posts = sequence - cursor.at->seen;
                        cursor.at->seen = sequence;
                        dn__group_invoke(engine, cursor.at, &event);
                }
                dn__cursor_advance(&cursor, &remains);
                if (!remains.observer)
                        continue;
                dn__lock_release(&engine->lock);
                dn__remains_dispose(&remains);
                dn__lock_acquire(&engine->lock);
        }
}

static uint64_t pop_waiting(dn__group *group)
{
        uint64_t sequence = group->waiting[group->first_waiting];

        group->first_waiting = (group->first_waiting + 1) % DN__GROUP_MAX_WAITING;
        group->n_waiting--;
        return sequence;
}

/* The work that is enqueued once for each post that waits. Where the executor runs two of them at
 * a time, the second one leaves its post to the first. */
static void run(void *argument)
{
        dn__group *group = argument;
        dn__engine *engine = group->topic->engine;

        /* A forked child may have inherited the work in a queue of the host. */
        if (!dn__engine_is_current(engine))
                return;
        dn__lock_acquire(&engine->lock);
        group->n_due++;
        if (!group->is_running) {
                group->is_running = true;
                for (; group->n_due > 0; group->n_due--)
                        deliver(engine, group, pop_waiting(group));
                group->is_running = false;
        }
        dn__lock_release(&engine->lock);
        dn__group_unref(group);
}

/* --- Waiting posts ------------------------------------------------------------------------ */

static bool batch_grow(dn__batch *batch)
{
        size_t n_allocated = batch->n_allocated ? 2 * batch->n_allocated : 32;
        struct dn__batch_item *items = malloc(n_allocated * sizeof(*items));

        if (!items)
                return false;
        if (batch->n_items)
                memcpy(items, batch->items ? batch->items : batch->fixed,
                       batch->n_items * sizeof(*items));
        free(batch->items);
        batch->items = items;
        batch->n_allocated = n_allocated;
        return true;
}

static bool batch_add(dn__batch *batch, dn__group *group, unsigned n_works)
{
        size_t n_room = batch->items ? batch->n_allocated : sizeof(batch->fixed) /
                                                            sizeof(batch->fixed[0]);

        if (batch->n_items == n_room && !batch_grow(batch))
                return false;
        (batch->items ? batch->items : batch->fixed)[batch->n_items++] =
                (struct dn__batch_item){ group, n_works };
        for (unsigned i = 0; i < n_works; i++)
                dn__group_ref(group);
        return true;
}

void dn__group_push(dn__group *group, uint64_t before, uint64_t n_posts, dn__batch *batch)
{
        uint64_t n_room = DN__GROUP_MAX_WAITING - group->n_waiting;
        unsigned n_works = (unsigned)(n_posts < n_room ? n_posts : n_room), last;

        /* Without memory for the works, the posts are merged into those that come next. */
        if (n_works && !batch_add(batch, group, n_works))
                n_works = 0;
        for (unsigned i = 0; i < n_works; i++) {
                last = (group->first_waiting + group->n_waiting++) % DN__GROUP_MAX_WAITING;
                group->waiting[last] = before + 1 + i;
        }
        if (n_works == n_posts || !group->n_waiting)
                return;
        last = (group->first_waiting + group->n_waiting - 1) % DN__GROUP_MAX_WAITING;
        group->waiting[last] = before + n_posts;
}

/* The executor has refused: the host has closed it, and nothing is delivered there any more. */
static void drop_waiting(dn__group *group)
{
        dn__engine *engine = group->topic->engine;

        dn__lock_acquire(&engine->lock);
        (void)pop_waiting(group);
        dn__lock_release(&engine->lock);
        dn__group_unref(group);
}

void dn__batch_run(dn__batch *batch)
{
        struct dn__batch_item *items = batch->items ? batch->items : batch->fixed;

        for (size_t i = 0; i < batch->n_items; i++)
                for (unsigned j = 0; j < items[i].n_works; j++)
                        if (dn__executor_enqueue(items[i].group->executor, run,
                                                 items[i].group) < 0)
                                drop_waiting(items[i].group);
        free(batch->items);
}
