/* What a center has in one process: its names, its table, its connection. */
#include "center/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/access.h"
#include "bus/name.h"
#include "center/topic.h"
#include "util/hash.h"

/* --- The service thread calls ------------------------------------------------------------- */

/* A post that the shared table counts is delivered when its generation is ahead of what was
 * delivered, our own too: one that began before an observer was there comes to it this way. Any
 * other is delivered once for each signal, but for our own, which were delivered at once. */
static void received(void *context, const dn__signal *signal)
{
        uint64_t hash = dn__hash64(signal->name, signal->n_name_bytes);
        dn__engine *engine = context;
        dn__batch batch = { 0 };
        dn__topic *topic;

        dn__lock_acquire(&engine->lock);
        topic = dn__topic_find(engine, hash, signal->name, signal->n_name_bytes);
        if (topic && topic->slot && signal->generation &&
            signal->region == engine->region->table->header.region)
                dn__topic_post_counted(topic, signal->generation, &batch);
        else if (topic && !signal->is_own)
                dn__topic_post_uncounted(topic, &batch);
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
}

static void may_have_missed(void *context)
{
        dn__engine *engine = context;
        dn__batch batch = { 0 };

        dn__lock_acquire(&engine->lock);
        for (dn__map_entry *entry = dn__map_next(&engine->topics, NULL); entry;
             entry = dn__map_next(&engine->topics, entry))
                dn__topic_catch_up(DN__CONTAINER(entry, dn__topic, entry), &batch);
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
}

static void woken(void *context, uint64_t now_us)
{
        dn__topic_sweep(context, now_us);
}

static void closed(void *context)
{
        dn__engine_unref(context);
}

static const dn__service_ops service_ops = { received, may_have_missed, woken, closed };

/* --- Making and ending -------------------------------------------------------------------- */

static int connect_engine(dn__engine *engine)
{
        dn__address address = { 0 };
        int r;

        r = dn__address_resolve(engine->center->bus, &address);
        if (r < 0)
                return r;
        /* Without a table everything works over the bus alone. */
        (void)dn__region_open(address.address ? address.address : "none", &engine->region);
        return dn__service_new(address, &service_ops, engine, &engine->service);
}

static dn__per_process *make(void *context)
{
        static _Atomic uint64_t last_id;
        dn__engine *engine = calloc(1, sizeof(*engine));
        dn_center *center = context;

        if (!engine)
                return NULL;
        engine->process.fork_id = dn__fork_id();
        engine->center = center;
        engine->id = atomic_fetch_add(&last_id, 1) + 1;
        atomic_init(&engine->n_refs, 1);
        dn__lock_init(&engine->lock);
        dn__condition_init(&engine->changed);
        dn__list_init(&engine->lingering);
        if (center->is_local || connect_engine(engine) == 0)
                return &engine->process;
        engine->center = NULL;
        dn__engine_unref(engine);
        return NULL;
}

/* Another thread was faster. */
static void unmake(dn__per_process *made)
{
        dn__engine *engine = DN__CONTAINER(made, dn__engine, process);

        engine->center = NULL;
        if (engine->service)
                dn__service_close(engine->service);
        else
                dn__engine_unref(engine);
}

dn__engine *dn__engine_get(dn_center *center)
{
        dn__per_process *found = dn__per_process_get(&center->engine, make, unmake, center);
        dn__engine *engine;

        if (!found)
                return NULL;
        engine = DN__CONTAINER(found, dn__engine, process);
        dn__engine_ref(engine);
        if (!atomic_load_explicit(&engine->is_listed, memory_order_relaxed) &&
            !atomic_exchange(&engine->is_listed, true))
                dn__flush_add(engine);
        return engine;
}

dn__engine *dn__engine_find(const dn_center *center)
{
        dn__per_process *found = atomic_load_explicit(&center->engine, memory_order_acquire);
        dn__engine *engine = found ? DN__CONTAINER(found, dn__engine, process) : NULL;

        return engine && dn__engine_is_current(engine) ? engine : NULL;
}

void dn__engine_ref(dn__engine *engine)
{
        atomic_fetch_add_explicit(&engine->n_refs, 1, memory_order_relaxed);
}

void dn__engine_unref(dn__engine *engine)
{
        dn__executor *executor;

        if (atomic_fetch_sub_explicit(&engine->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        /* The descriptors of the process that this one was forked from are closed here, and their
         * numbers may be in use again: such an engine stays where it is. */
        if (!dn__engine_is_current(engine))
                return;
        if (engine->region)
                dn__region_remove_if_last(engine->region);
        (void)dn__region_close(engine->region);
        dn__lock_acquire(&engine->lock);
        executor = engine->executor;
        dn__lock_release(&engine->lock);
        (void)dn__executor_unref(executor);
        dn__map_deinit(&engine->registrations);
        dn__map_deinit(&engine->topics);
        dn__condition_deinit(&engine->changed);
        dn__lock_deinit(&engine->lock);
        free(engine->center);
        free(engine);
}

void dn__center_retain(dn_center *center)
{
        atomic_fetch_add_explicit(&center->n_refs, 1, memory_order_relaxed);
}

bool dn__center_try_retain(dn_center *center)
{
        unsigned n = atomic_load_explicit(&center->n_refs, memory_order_relaxed);

        while (n > 0)
                if (atomic_compare_exchange_weak(&center->n_refs, &n, n + 1))
                        return true;
        return false;
}

void dn__center_release(dn_center *center)
{
        dn__engine *engine;

        if (atomic_fetch_sub_explicit(&center->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        engine = dn__engine_find(center);
        if (engine) {
                dn__flush_remove(engine);
                dn__topic_sweep(engine, DN__NEVER);
                dn__service_close(engine->service);
        } else if (!atomic_load(&center->engine)) {
                free(center);
        } /* else its engine is that of the process that this one was forked from, and stays */
}

/* --- Posts -------------------------------------------------------------------------------- */

/* Counts the post and hands it to the observers of this process. Returns its generation, or 0 if
 * no process that has a slot for the name observes it: then there is nothing to count. */
static uint64_t post_inside(dn__engine *engine, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        dn__batch batch = { 0 };
        dn__topic *topic;
        uint64_t generation = 0;

        dn__lock_acquire(&engine->lock);
        topic = dn__topic_find(engine, hash, name, n_name_bytes);
        if (topic && topic->slot) {
                generation = dn__slot_count_post(topic->slot);
                dn__topic_post_counted(topic, generation, &batch);
        } else if (topic) {
                dn__topic_post_uncounted(topic, &batch);
        }
        dn__lock_release(&engine->lock);
        dn__batch_run(&batch);
        if (generation || !engine->region || dn__name_is_local(name))
                return generation;
        return dn__slot_count_post_of(engine->region, hash, name, n_name_bytes);
}

int dn__engine_post(dn__engine *engine, const char *name, size_t n_name_bytes, bool may_merge)
{
        uint64_t hash = dn__hash64(name, n_name_bytes), deadline_us = 0, generation;
        int r = 0;

        if (dn__access_is_reserved(name) && !dn__access_may_post(name, geteuid()))
                return 0;
        if (!dn__name_is_local(name)) {
                r = dn__service_ensure(engine->service, &deadline_us);
                if (r == -ENOMEM)
                        return r;
        }
        generation = post_inside(engine, hash, name, n_name_bytes);
        if (dn__name_is_local(name))
                return 0;
        return dn__service_post(engine->service, hash, name, n_name_bytes, generation,
                                engine->region ? engine->region->table->header.region : 0,
                                may_merge);
}
