/* The public functions of a center. */
#include "center/center.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "darwinnotify/distributed.h"
#include "post/address.h"
#include "util/gate.h"
#include "util/probe.h"
#include "util/text.h"

int dn__center_open(const dn__center_ops *ops, const char *bus, dn_center **ret_center)
{
        size_t n_bytes = bus ? strlen(bus) : 0;
        dn_center *center;

        if (!n_bytes || !ret_center || !dn__address_names_bus(bus))
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

dn_center *dn_center_unref(dn_center *center)
{
        DN__GATE();
        dn__hub *hub;

        if (!center || !center->bus)
                return NULL;
        hub = dn__hub_find(center);
        if (hub) {
                /* What the bus has not read by then is lost. */
                (void)dn__carrier_flush(hub->bus, dn__clock_after_us(DN__CLOSE_TIMEOUT_US));
                dn__carrier_remain_known(hub->bus);
        }
        dn__center_release(center);
        return NULL;
}

int dn_may_post(const char *name)
{
        dn__name checked;
        int r = dn__name_init(&checked, name, DN__REACH_BEYOND);

        return r < 0 ? r : dn__name_may_post(&checked, geteuid());
}

int dn_center_is_on_bus(dn_center *center)
{
        DN__GATE();
        dn__hub *hub DN__UNREFS_HUB = NULL;
        uint64_t deadline_us = 0;
        int r;

        r = dn__hub_get(center, &hub);
        if (r == 0)
                r = dn__carrier_start(hub->bus, &deadline_us);
        return r == 0 ? dn__carrier_get_status(hub->bus).is_connected : r;
}

int dn_center_set_executor(dn_center *center, const dn_executor *executor)
{
        DN__GATE();
        dn__executor *made = NULL, *before;
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r;

        r = center && center->ops->has_executors ? dn__hub_get(center, &hub) : -EINVAL;
        if (r == 0 && executor)
                r = dn__hub_make_executor(hub, executor, &made);
        if (r < 0)
                return r;
        dn__hub_lock(hub);
        before = hub->executor;
        hub->executor = made;
        dn__hub_unlock(hub);
        (void)dn__executor_unref(before);
        return 0;
}

int dn_center_get_objects(const dn_center *center)
{
        return center ? (int)center->ops->objects : -EINVAL;
}

/* --- Posts ----------------------------------------------------------------------------------- */

int dn__center_check_object(const dn_center *center, const void *object)
{
        size_t n_bytes;

        if (center->ops->objects != DN_OBJECTS_TEXTS)
                return 0;
        n_bytes = strlen(object);
        if (n_bytes > DN_OBJECT_MAX_BYTES)
                return -E2BIG;
        return dn__utf8_is_valid(object, n_bytes) ? 0 : -EINVAL;
}

int dn__center_post(dn_center *center, dn__post *post)
{
        dn__hub *hub;
        int r;

        if (post->name.is_reserved && !dn__name_may_post(&post->name, geteuid()))
                return -EACCES;
        DN__PROBE(post, post->name.text);
        r = dn__hub_get(center, &hub);
        if (r < 0)
                return r;
        r = center->ops->post(hub, post);
        dn__hub_unref(hub);
        return r;
}

int dn_center_post(dn_center *center, const char *name, const void *object,
                   const dn_dict *user_info, unsigned options)
{
        DN__GATE();
        dn__post post = {
                .origin.is_own = true,
                .body = {
                        .object = object,
                        .user_info = user_info,
                        .is_immediate = options & DN_POST_DELIVER_IMMEDIATELY,
                        .is_for_all_sessions = options & DN_POST_TO_ALL_SESSIONS,
                },
        };
        int r;

        if (!center)
                return -EINVAL;
        post.is_queued = center->ops->is_queued;
        r = dn__name_init(&post.name, name, center->ops->reach);
        if (r == 0 && object)
                r = dn__center_check_object(center, object);
        return r < 0 ? r : dn__center_post(center, &post);
}
