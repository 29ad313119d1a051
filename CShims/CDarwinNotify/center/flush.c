/* What is to be done before a process may end: its posts sent, its table given back. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "center/engine.h"

/* What leaving the process may take, at most. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* The engines of this process that have a connection. */
typedef struct engine_list {
        dn__per_process process;
        dn__lock lock;
        dn__link engines DN__GUARDED_BY(&lock);
} engine_list;

static dn__per_process *make(void *context)
{
        engine_list *list = calloc(1, sizeof(*list));

        (void)context;
        if (!list)
                return NULL;
        dn__lock_init(&list->lock);
        dn__list_init(&list->engines);
        return &list->process;
}

static void unmake(dn__per_process *made)
{
        engine_list *list = DN__CONTAINER(made, engine_list, process);

        dn__lock_deinit(&list->lock);
        free(list);
}

static engine_list *get_list(void)
{
        static _Atomic(dn__per_process *) shared;
        dn__per_process *found = dn__per_process_get(&shared, make, unmake, NULL);

        return found ? DN__CONTAINER(found, engine_list, process) : NULL;
}

/* Returns the engine that was made after `id`, with a hold on its center, or NULL. */
static dn__engine *next_engine(uint64_t id)
{
        engine_list *list = get_list();
        dn__engine *found = NULL;

        if (!list)
                return NULL;
        dn__lock_acquire(&list->lock);
        for (dn__link *link = list->engines.next; link != &list->engines && !found;
             link = link->next) {
                dn__engine *engine = DN__CONTAINER(link, dn__engine, link);

                if (engine->id > id && dn__center_try_retain(engine->center))
                        found = engine;
        }
        dn__lock_release(&list->lock);
        return found;
}

int dn_flush(uint64_t timeout_us)
{
        uint64_t deadline_us = dn__clock_after_us(timeout_us), id = 0;
        dn__engine *engine;
        int r, result = 0;

        while ((engine = next_engine(id))) {
                id = engine->id;
                r = dn__service_flush(engine->service, deadline_us);
                if (r < 0)
                        result = r;
                dn__center_release(engine->center);
        }
        return result;
}

static void at_exit(void)
{
        dn__engine *engine;
        uint64_t id = 0;

        (void)dn_flush(EXIT_TIMEOUT_US);
        while ((engine = next_engine(id))) {
                id = engine->id;
                dn__service_await_questions(engine->service);
                if (engine->region)
                        dn__region_remove_if_last(engine->region);
                dn__center_release(engine->center);
        }
}

static void register_at_exit(void)
{
        /* If it fails there is no memory for the host's own handlers either. */
        (void)atexit(at_exit);
}

void dn__flush_add(dn__engine *engine)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        engine_list *list = get_list();

        if (!engine->service || !list)
                return;
        (void)pthread_once(&once, register_at_exit);
        dn__lock_acquire(&list->lock);
        dn__list_append(&list->engines, &engine->link);
        dn__lock_release(&list->lock);
}

void dn__flush_remove(dn__engine *engine)
{
        engine_list *list = get_list();

        if (!list)
                return;
        dn__lock_acquire(&list->lock);
        dn__list_remove(&engine->link);
        dn__lock_release(&list->lock);
}
