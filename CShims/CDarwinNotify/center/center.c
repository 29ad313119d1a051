/* The public functions of a center. */
#include "center/center.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "center/carriers.h"
#include "center/darwin.h"
#include "center/distributed.h"
#include "center/hub.h"
#include "center/observe.h"
#include "darwinnotify/distributed.h"
#include "darwinnotify/observer.h"
#include "util/call.h"
#include "util/utf8.h"

static int open_center(const dn__center_ops *ops, const char *bus, dn_center **ret_center)
{
        size_t n_bytes = bus ? strlen(bus) : 0;
        dn_center *center;

        if (!n_bytes || !ret_center)
                return -EINVAL;
        center = calloc(1, sizeof(*center) + n_bytes + 1);
        if (!center)
                return -ENOMEM;
        center->ops = ops;
        center->bus = memcpy(center + 1, bus, n_bytes + 1);
        atomic_init(&center->n_refs, 1);
        *ret_center = center;
        return 0;
}

int dn_center_open(const char *bus, dn_center **ret_center)
{
        return open_center(&dn__darwin_ops, bus, ret_center);
}

int dn_center_open_distributed(const char *bus, dn_center **ret_center)
{
        return open_center(&dn__distributed_ops, bus, ret_center);
}

dn_center *dn_center_unref(dn_center *center)
{
        DN__CALL();
        dn__hub *hub;

        if (!center || !center->bus)
                return NULL;
        hub = dn__hub_find(center);
        if (hub) {
                (void)dn__carriers_flush(hub, dn__clock_after_us(DN__CLOSE_TIMEOUT_US));
                dn__carriers_linger(hub);
        }
        dn__center_release(center);
        return NULL;
}

int dn_center_is_on_bus(dn_center *center)
{
        DN__CALL();
        dn__hub *hub = center ? dn__hub_get(center) : NULL;
        uint64_t deadline_us = 0;
        int r;

        if (!hub)
                return center ? -ENOMEM : -EINVAL;
        r = dn__carriers_start(hub, &deadline_us);
        if (r == 0)
                r = dn__carriers_are_connected(hub);
        dn__hub_unref(hub);
        return r;
}

/* --- The executor of CF-shaped observers ----------------------------------------------------- */

int dn_center_set_executor(dn_center *center, const dn_executor *executor)
{
        DN__CALL();
        dn__hub *hub = center && center->ops->has_executors ? dn__hub_get(center) : NULL;
        dn__executor *made = NULL, *before;
        int r;

        if (!hub)
                return center && center->ops->has_executors ? -ENOMEM : -EINVAL;
        r = dn__hub_make_executor(hub, executor, &made);
        if (r == 0) {
                dn__hub_lock(hub);
                before = hub->executor;
                hub->executor = made;
                dn__hub_unlock(hub);
                (void)dn__executor_unref(before);
        }
        dn__hub_unref(hub);
        return r;
}

int dn_center_get_executor(dn_center *center, dn_executor *ret_executor)
{
        DN__CALL();
        dn__hub *hub = center && center->ops->has_executors ? dn__hub_get(center) : NULL;
        dn__executor *executor;

        if (!hub)
                return center && center->ops->has_executors ? -ENOMEM : -EINVAL;
        dn__hub_lock(hub);
        executor = dn__executor_ref(hub->executor);
        dn__hub_unlock(hub);
        *ret_executor = executor ? dn__executor_get_value(executor)
                                 : dn_executor_delivery_thread();
        dn__hub_unref(hub);
        return 0;
}

/* --- Observers ------------------------------------------------------------------------------- */

int dn_center_get_objects(const dn_center *center)
{
        return center ? (int)center->ops->objects : -EINVAL;
}

/* Gives an observer that receives each post separately its backlog. */
static int add_backlog(dn_center *center, const dn__name *name, const dn_filter *filter,
                       dn__observer_spec *spec)
{
        bool has_text = center->ops->objects == DN_OBJECTS_TEXTS && filter->object;

        if (!center->ops->is_queued && !name->is_prefix)
                return 0;
        spec->backlog = dn__backlog_new(filter->behavior, has_text ? filter->object : NULL);
        if (!spec->backlog)
                return -ENOMEM;
        if (has_text)
                spec->object = spec->backlog->object;
        return 0;
}

/* Consumes the contents of the specification, also on failure. */
static int observe(dn__hub *hub, const dn__name *name, const dn_filter *filter,
                   dn__observer_spec *spec, dn_observer **ret_observer)
{
        int r;

        r = add_backlog(hub->center, name, filter, spec);
        if (r < 0) {
                dn__handler_destroy(spec->handler);
                (void)dn__executor_unref(spec->executor);
                return r;
        }
        r = dn__observe_name(hub, name, spec, ret_observer);
        if (r < 0 && r != -ENOTCONN)
                dn__backlog_free(spec->backlog);
        return r;
}

/* Makes the name that a filter selects. */
static int read_name(const dn__center_ops *ops, const dn_filter *filter, dn__name *ret_name)
{
        if (filter->name)
                return filter->prefix ? -EINVAL
                                      : dn__name_init(ret_name, filter->name, ops->reach);
        if (ops->has_prefixes)
                return dn__name_init_prefix(ret_name, filter->prefix, ops->reach);
        *ret_name = dn__name_any;
        return filter->prefix ? -EINVAL : 0;
}

/* Returns 0, -EINVAL or -E2BIG. */
static int check_object(const dn__center_ops *ops, const void *object)
{
        size_t n_bytes = ops->objects == DN_OBJECTS_TEXTS && object ? strlen(object) : 0;

        if (n_bytes > DN_OBJECT_MAX_BYTES)
                return -E2BIG;
        return n_bytes == 0 || dn__utf8_is_valid(object, n_bytes) ? 0 : -EINVAL;
}

int dn_center_observe_filtered(dn_center *center, const dn_filter *filter, dn_handler handler,
                               const dn_executor *executor, dn_observer **ret_observer)
{
        DN__CALL();
        dn__observer_spec spec = { .handler = handler };
        int r = center && filter && handler.invoke ? 0 : -EINVAL;
        dn__hub *hub = NULL;
        dn__name name;

        if (r == 0)
                r = read_name(center->ops, filter, &name);
        if (r == 0)
                r = check_object(center->ops, filter->object);
        if (r == 0)
                hub = dn__hub_get(center);
        if (r == 0)
                r = hub ? 0 : -ENOMEM;
        if (r < 0) {
                dn__handler_destroy(handler);
                return r;
        }
        if (center->ops->objects == DN_OBJECTS_POINTERS)
                spec.object = filter->object;
        r = dn__hub_make_executor(hub, executor, &spec.executor);
        if (r == 0)
                r = observe(hub, &name, filter, &spec, ret_observer);
        else
                dn__handler_destroy(handler);
        dn__hub_unref(hub);
        return r;
}

/* Refuses what the center does not support. */
static int refuse(dn_handler handler)
{
        dn__handler_destroy(handler);
        return -EINVAL;
}

int dn_center_observe(dn_center *center, const char *name, dn_handler handler,
                      const dn_executor *executor, dn_observer **ret_observer)
{
        DN__CALL();
        dn_filter filter = { .name = name };

        if (!name)
                return refuse(handler);
        return dn_center_observe_filtered(center, &filter, handler, executor, ret_observer);
}

int dn_center_observe_prefix(dn_center *center, const char *prefix, dn_handler handler,
                             const dn_executor *executor, dn_observer **ret_observer)
{
        DN__CALL();
        dn_filter filter = { .prefix = prefix };

        if (!prefix)
                return refuse(handler);
        return dn_center_observe_filtered(center, &filter, handler, executor, ret_observer);
}

int dn_center_observe_object(dn_center *center, const char *name, const void *object,
                             dn_handler handler, dn_observer **ret_observer)
{
        DN__CALL();
        dn_filter filter = { .name = name, .object = object };

        if (!center || center->ops->objects == DN_OBJECTS_NONE)
                return refuse(handler);
        return dn_center_observe_filtered(center, &filter, handler, NULL, ret_observer);
}

/* --- Posts ----------------------------------------------------------------------------------- */

int dn__center_post(dn_center *center, dn__post *post)
{
        dn__hub *hub = dn__hub_get(center);
        int r;

        if (!hub)
                return -ENOMEM;
        r = center->ops->post(hub, post);
        dn__hub_unref(hub);
        return r;
}

int dn_center_post(dn_center *center, const char *name, const void *object,
                   const dn_dict *user_info, unsigned options)
{
        DN__CALL();
        dn__post post = {
                .origin.is_own = true,
                .body = {
                        .object = object,
                        .user_info = user_info,
                        .is_immediate = options & DN_POST_DELIVER_IMMEDIATELY,
                        .is_for_all_sessions = options & DN_POST_TO_ALL_SESSIONS,
                },
                .may_merge = options & DN_POST_MERGE,
        };
        int r;

        if (!center)
                return -EINVAL;
        post.is_queued = center->ops->is_queued;
        r = dn__name_init(&post.name, name, center->ops->reach);
        if (r == 0)
                r = check_object(center->ops, object);
        return r < 0 ? r : dn__center_post(center, &post);
}
