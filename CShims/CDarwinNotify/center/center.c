/* The public functions of a center. */
#include "darwinnotify/center.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/name.h"
#include "center/engine.h"
#include "center/observer.h"
#include "util/utf8.h"

dn_center *dn_center_darwin(void)
{
        static dn_center center = { .is_local = false, .n_refs = 1 };

        return &center;
}

dn_center *dn_center_local(void)
{
        static dn_center center = { .is_local = true, .n_refs = 1 };

        return &center;
}

static bool is_shared(const dn_center *center)
{
        return center == dn_center_darwin() || center == dn_center_local();
}

int dn_center_open(const char *bus, dn_center **ret_center)
{
        size_t n_bytes = bus ? strlen(bus) : 0;
        dn_center *center;

        if (!n_bytes || !ret_center)
                return -EINVAL;
        center = calloc(1, sizeof(*center) + n_bytes + 1);
        if (!center)
                return -ENOMEM;
        center->bus = memcpy(center + 1, bus, n_bytes + 1);
        atomic_init(&center->n_refs, 1);
        *ret_center = center;
        return 0;
}

dn_center *dn_center_unref(dn_center *center)
{
        dn__engine *engine;

        if (!center || is_shared(center))
                return NULL;
        engine = dn__engine_find(center);
        if (engine) {
                (void)dn__service_flush(engine->service, dn__clock_after_us(DN__CLOSE_TIMEOUT_US));
                dn__service_await_questions(engine->service);
        }
        dn__center_release(center);
        return NULL;
}

int dn_center_set_executor(dn_center *center, const dn_executor *executor)
{
        dn__executor *shared = NULL, *before = NULL;
        dn__engine *engine = NULL;
        int r = -EINVAL;

        if (center && !center->is_local) {
                engine = dn__engine_get(center);
                r = engine ? 0 : -ENOMEM;
        }
        if (r == 0) {
                r = dn__executor_new(executor, engine->service, &shared);
        } else {
                dn__executor_consume(executor);
        }
        if (r == 0) {
                dn__lock_acquire(&engine->lock);
                before = engine->executor;
                engine->executor = shared;
                dn__lock_release(&engine->lock);
        }
        (void)dn__executor_unref(before);
        if (engine)
                dn__engine_unref(engine);
        return r;
}

int dn__center_check_name(const dn_center *center, const char *name, size_t *ret_n_bytes)
{
        int r;

        if (!center)
                return -EINVAL;
        r = dn__name_check(name, ret_n_bytes);
        if (r != -ENAMETOOLONG || !center->is_local)
                return r;
        *ret_n_bytes = strlen(name);
        return 0;
}

/* Registers with arguments that are checked. An empty name stands for all names. */
static int observe(dn_center *center, const char *name, size_t n_name_bytes, const void *object,
                   dn_handler handler, const dn_executor *executor, dn_observer **ret_observer)
{
        dn__engine *engine = dn__engine_get(center);
        dn__executor *shared = NULL;
        int r = engine ? 0 : -ENOMEM;

        if (engine && !center->is_local)
                r = dn__executor_new(executor, engine->service, &shared);
        else
                dn__executor_consume(executor);
        if (r == 0)
                r = dn__engine_observe(engine, name, n_name_bytes, object, handler, shared,
                                       ret_observer);
        else
                dn__handler_destroy(handler);
        if (engine)
                dn__engine_unref(engine);
        return r;
}

int dn_center_observe(dn_center *center, const char *name, dn_handler handler,
                      const dn_executor *executor, dn_observer **ret_observer)
{
        size_t n_bytes = 0;
        int r = dn__center_check_name(center, name, &n_bytes);

        if (r == 0 && (!handler.invoke || (center->is_local && executor)))
                r = -EINVAL;
        if (r == 0)
                return observe(center, name, n_bytes, NULL, handler, executor, ret_observer);
        dn__executor_consume(executor);
        dn__handler_destroy(handler);
        return r;
}

int dn_center_observe_object(dn_center *center, const char *name, const void *object,
                             dn_handler handler, dn_observer **ret_observer)
{
        size_t n_bytes = 0;
        int r = name ? dn__center_check_name(center, name, &n_bytes) : 0;

        if (!center || !center->is_local || !handler.invoke)
                r = -EINVAL;
        if (r == 0)
                return observe(center, name ? name : "", n_bytes, object, handler, NULL,
                               ret_observer);
        dn__handler_destroy(handler);
        return r;
}

int dn_center_post(dn_center *center, const char *name, const void *object,
                   const dn_dict *user_info, unsigned options)
{
        dn__engine *engine;
        size_t n_bytes;
        int r;

        r = dn__center_check_name(center, name, &n_bytes);
        if (r < 0)
                return r;
        engine = dn__engine_get(center);
        if (!engine)
                return -ENOMEM;
        if (center->is_local)
                dn__engine_post_local(engine, name, n_bytes, object, user_info);
        else
                r = dn__engine_post(engine, name, n_bytes, options & DN_POST_MERGE);
        dn__engine_unref(engine);
        return r;
}
