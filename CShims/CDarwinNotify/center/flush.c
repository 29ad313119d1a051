/* What is to be done before a process may end: its posts sent, its table given back. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "center/engine.h"
#include "util/process-list.h"

/* What leaving the process may take, at most. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* The engines of this process that have a connection. */
static _Atomic(dn__per_process *) engines;

/* Returns the engine that was made after `id`, with a hold on its center, or NULL. */
static dn__engine *next_engine(uint64_t id)
{
        dn__process_list *list = dn__process_list_get(&engines);
        dn__engine *found = NULL;

        if (!list)
                return NULL;
        dn__lock_acquire(&list->lock);
        for (dn__link *link = list->head.next; link != &list->head && !found; link = link->next) {
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
        dn__process_list *list = dn__process_list_get(&engines);

        if (!engine->service || !list)
                return;
        (void)pthread_once(&once, register_at_exit);
        dn__lock_acquire(&list->lock);
        dn__list_append(&list->head, &engine->link);
        dn__lock_release(&list->lock);
}

void dn__flush_remove(dn__engine *engine)
{
        dn__process_list *list = dn__process_list_get(&engines);

        if (!list)
                return;
        dn__lock_acquire(&list->lock);
        dn__list_remove(&engine->link);
        dn__lock_release(&list->lock);
}
