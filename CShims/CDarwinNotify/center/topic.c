/* One name of a center: who observes it, and how many posts it has had. */
#include "center/topic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

/* More posts than come between two looks at the table: a count that jumps further was tampered
 * with, and must not wrap the sequence. */
#define MOST_POSTS UINT32_MAX

/* How long the rule of a name stays after its last observer. */
#define LINGER_US (1 * DN__US_PER_SECOND)

/* Names that linger at a time: a program that observes a new name for each request must not come
 * to the limit of the bus by that. */
#define LINGER_MAX 256

void dn__topic_ref(dn__topic *topic)
{
        atomic_fetch_add_explicit(&topic->n_refs, 1, memory_order_relaxed);
}

void dn__topic_unref(dn__topic *topic)
{
        if (atomic_fetch_sub_explicit(&topic->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        dn__engine_unref(topic->engine);
        free(topic);
}

/* --- Finding and holding ------------------------------------------------------------------- */

dn__topic *dn__topic_find(dn__engine *engine, uint64_t hash, const char *name,
                          size_t n_name_bytes) DN__REQUIRES(&engine->lock)
{
        dn__map_entry *entry = dn__map_find(&engine->topics, hash, name, n_name_bytes);

        return entry ? DN__CONTAINER(entry, dn__topic, entry) : NULL;
}

static dn__topic *topic_new(dn__engine *engine, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        dn__topic *topic = calloc(1, sizeof(*topic) + n_name_bytes + 1);

        if (!topic)
                return NULL;
        memcpy(topic->name, name, n_name_bytes);
        atomic_init(&topic->n_refs, 1);
        topic->engine = engine;
        topic->sequence = 1;
        topic->entry = (dn__map_entry){ NULL, hash, topic->name, n_name_bytes };
        dn__list_init(&topic->groups);
        dn__engine_ref(engine);
        return topic;
}

static dn__topic *find_or_add(dn__engine *engine, const char *name, size_t n_name_bytes)
        DN__REQUIRES(&engine->lock)
{
        uint64_t hash = dn__hash64(name, n_name_bytes);
        dn__topic *topic = dn__topic_find(engine, hash, name, n_name_bytes);

        if (topic)
                return topic;
        topic = topic_new(engine, hash, name, n_name_bytes);
        if (topic && dn__map_add(&engine->topics, &topic->entry) < 0) {
                dn__topic_unref(topic);
                return NULL;
        }
        return topic;
}

static void set_slot(dn__topic *topic, dn__shm_slot *slot)
{
        topic->slot = slot;
        if (topic->counter)
                dn__counter_set_slot(topic->counter, slot);
}

dn__counter *dn__topic_get_counter(dn__topic *topic)
{
        dn__engine *engine = topic->engine;

        dn__lock_acquire(&engine->lock);
        if (!topic->counter) {
                topic->counter = engine->free_counters;
                if (topic->counter)
                        engine->free_counters = topic->counter->next_free;
                else
                        topic->counter = calloc(1, sizeof(*topic->counter));
                if (topic->counter)
                        dn__counter_set_slot(topic->counter, topic->slot);
        }
        dn__lock_release(&engine->lock);
        return topic->counter;
}

/* Slot first, rule second: from the moment the bus delivers, the posts are counted. What could not
 * be had the last time is asked for again. */
static int prepare(dn__topic *topic)
{
        dn__engine *engine = topic->engine;
        size_t n_bytes = topic->entry.n_key_bytes;
        dn__shm_slot *slot = topic->slot;
        dn__rule *rule = topic->rule;
        dn__batch batch = { 0 };
        int r = 0;

        if (!slot && engine->region)
                slot = dn__slot_hold(engine->region, topic->entry.hash, topic->name, n_bytes);
        if (!rule)
                r = dn__service_add_rule(engine->service, topic->name, n_bytes, &rule);
        dn__lock_acquire(&engine->lock);
        if (slot != topic->slot) {
                topic->generation = dn__slot_get_generation(slot);
                /* What was counted before this, but has not come over the bus yet, is not told
                 * apart from what has: whoever was there already looks once more. */
                dn__topic_post_uncounted(topic, &batch);
                set_slot(topic, slot);
        }
        topic->rule = rule;
        topic->is_preparing = false;
        dn__condition_broadcast(&engine->changed);
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
        return r;
}

/* One caller prepares, the others wait for it. Returns whether it is the caller. */
static bool begin_to_prepare(dn__engine *engine, dn__topic *topic) DN__REQUIRES(&engine->lock)
{
        while (topic->is_preparing)
                (void)dn__condition_wait(&engine->changed, &engine->lock, DN__NEVER);
        topic->is_preparing = !topic->rule || (!topic->slot && engine->region);
        return topic->is_preparing;
}

int dn__topic_hold(dn__engine *engine, const char *name, size_t n_name_bytes, bool is_local,
                   dn__topic **ret_topic)
{
        bool is_to_prepare = false;
        dn__topic *topic;
        int r = 0;

        dn__lock_acquire(&engine->lock);
        topic = find_or_add(engine, name, n_name_bytes);
        if (topic) {
                topic->n_holds++;
                if (dn__link_is_linked(&topic->linger_link)) {
                        dn__list_remove(&topic->linger_link);
                        engine->n_lingering--;
                }
                is_to_prepare = !is_local && begin_to_prepare(engine, topic);
        }
        dn__lock_release(&engine->lock);
        if (!topic)
                return -ENOMEM;
        if (is_to_prepare)
                r = prepare(topic);
        if (r == 0) {
                *ret_topic = topic;
                return 0;
        }
        dn__topic_give_back(topic);
        return r;
}

/* --- Letting go ---------------------------------------------------------------------------- */

static dn__topic *take_out(dn__engine *engine, dn__topic *topic) DN__REQUIRES(&engine->lock)
{
        if (dn__link_is_linked(&topic->linger_link)) {
                dn__list_remove(&topic->linger_link);
                engine->n_lingering--;
        }
        dn__map_remove(&engine->topics, &topic->entry);
        return topic;
}

static dn__topic *first_lingering(dn__engine *engine) DN__REQUIRES(&engine->lock)
{
        return dn__list_is_empty(&engine->lingering)
                       ? NULL
                       : DN__CONTAINER(engine->lingering.next, dn__topic, linger_link);
}

static dn__topic *linger(dn__engine *engine, dn__topic *topic) DN__REQUIRES(&engine->lock)
{
        topic->linger_until_us = dn__clock_after_us(LINGER_US);
        dn__list_append(&engine->lingering, &topic->linger_link);
        if (engine->n_lingering++ == 0)
                dn__service_wake_at(engine->service, topic->linger_until_us);
        return engine->n_lingering > LINGER_MAX ? take_out(engine, first_lingering(engine)) : NULL;
}

/* The state of a name ends with its last observer or token, though its rule lingers. Under the
 * lock: the same name may be held again right afterwards. */
static void let_go(dn__engine *engine, dn__topic *topic) DN__REQUIRES(&engine->lock)
{
        dn__counter *counter = topic->counter;

        if (topic->slot)
                dn__slot_release(engine->region, topic->slot);
        set_slot(topic, NULL);
        topic->counter = NULL;
        if (!counter)
                return;
        counter->next_free = engine->free_counters;
        engine->free_counters = counter;
}

dn__topic *dn__topic_release(dn__topic *topic) DN__TSA(no_thread_safety_analysis)
{
        if (--topic->n_holds > 0)
                return NULL;
        let_go(topic->engine, topic);
        if (topic->rule && !topic->is_refused)
                return linger(topic->engine, topic);
        return take_out(topic->engine, topic);
}

void dn__topic_give_back(dn__topic *topic)
{
        dn__engine *engine = topic->engine;
        dn__topic *retired;

        dn__lock_acquire(&engine->lock);
        retired = dn__topic_release(topic);
        dn__lock_release(&engine->lock);
        dn__topic_retire(retired);
}

void dn__topic_refuse(dn__topic *topic)
{
        dn__engine *engine = topic->engine;

        dn__lock_acquire(&engine->lock);
        topic->is_refused = true;
        dn__lock_release(&engine->lock);
        dn__topic_give_back(topic);
}

void dn__topic_retire(dn__topic *topic)
{
        if (!topic)
                return;
        if (topic->rule)
                dn__service_remove_rule(topic->engine->service, topic->rule);
        topic->rule = NULL;
        dn__topic_unref(topic);
}

void dn__topic_sweep(dn__engine *engine, uint64_t now_us)
{
        dn__topic *topic;

        do {
                dn__lock_acquire(&engine->lock);
                topic = first_lingering(engine);
                if (topic && topic->linger_until_us > now_us) {
                        dn__service_wake_at(engine->service, topic->linger_until_us);
                        topic = NULL;
                }
                if (topic)
                        (void)take_out(engine, topic);
                dn__lock_release(&engine->lock);
                dn__topic_retire(topic);
        } while (topic);
}

/* --- Posts --------------------------------------------------------------------------------- */

dn__group *dn__topic_find_group(const dn__topic *topic, const dn__executor *executor)
{
        for (dn__link *link = topic->groups.next; link != &topic->groups; link = link->next) {
                dn__group *group = DN__CONTAINER(link, dn__group, link);

                if (!executor || dn__executor_is_same(group->executor, executor))
                        return group;
        }
        return NULL;
}

static void push(dn__topic *topic, uint64_t n_posts, dn__batch *batch)
{
        for (dn__link *link = topic->groups.next; link != &topic->groups; link = link->next)
                dn__group_push(DN__CONTAINER(link, dn__group, link), topic->sequence, n_posts,
                               batch);
        topic->sequence += n_posts;
}

void dn__topic_post_uncounted(dn__topic *topic, dn__batch *batch)
{
        if (topic->counter)
                atomic_fetch_add(&topic->counter->n_uncounted, 1);
        push(topic, 1, batch);
}

void dn__topic_post_counted(dn__topic *topic, uint64_t generation, dn__batch *batch)
{
        uint64_t counted = dn__slot_get_generation(topic->slot), n_posts;

        /* Neither the number in a signal nor that in shared memory can be trusted to be right: a
         * signal tells of no more than was counted, and a count never goes back. */
        if (counted < topic->generation)
                topic->generation = counted ? counted - 1 : 0;
        if (generation > counted)
                generation = counted;
        if (generation <= topic->generation)
                return;
        n_posts = generation - topic->generation;
        push(topic, n_posts < MOST_POSTS ? n_posts : MOST_POSTS, batch);
        topic->generation = generation;
}

void dn__topic_catch_up(dn__topic *topic, dn__batch *batch)
{
        if (topic->slot)
                dn__topic_post_counted(topic, UINT64_MAX, batch);
}
