/* Waiting until what was posted has left the process: on request, and when the process exits. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "center/engine.h"

/* What leaving the process may take, at most. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* All engines with a connection, of this process and, in a forked child, of its parents. Guarded
 * by the lock that is held across fork(). */
static dn__link engines = { &engines, &engines };

static dn__engine *next_engine(uint64_t id);

static void flush_at_exit(void)
{
        dn__engine *engine;
        uint64_t id = 0;

        (void)dn_flush(EXIT_TIMEOUT_US);
        while ((engine = next_engine(id))) {
                id = engine->id;
                if (engine->region)
                        dn__region_remove_if_last(engine->region);
                dn__engine_unref(engine);
        }
}

static void register_at_exit(void)
{
        /* If it fails there is no memory for the host's own handlers either. */
        (void)atexit(flush_at_exit);
}

void dn__flush_add(dn__engine *engine)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        if (!engine->service)
                return;
        (void)pthread_once(&once, register_at_exit);
        dn__fork_lock_acquire();
        dn__list_append(&engines, &engine->link);
        dn__fork_lock_release();
}

void dn__flush_remove(dn__engine *engine)
{
        dn__fork_lock_acquire();
        dn__list_remove(&engine->link);
        dn__fork_lock_release();
}

/* Returns the engine that was made after `id`, with a reference, or NULL. */
static dn__engine *next_engine(uint64_t id)
{
        dn__engine *found = NULL;

        dn__fork_lock_acquire();
        for (dn__link *link = engines.next; link != &engines && !found; link = link->next) {
                dn__engine *engine = DN__CONTAINER(link, dn__engine, link);

                if (engine->id > id && dn__engine_is_current(engine))
                        found = engine;
        }
        if (found)
                dn__engine_ref(found);
        dn__fork_lock_release();
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
                dn__engine_unref(engine);
        }
        return result;
}
