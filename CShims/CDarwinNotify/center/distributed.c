/* The distributed center: delivers objects and user infos to every process on the same bus. */
#include "center/distributed.h"

#include <errno.h>
#include <unistd.h>

#include "carrier/dbus/dbus.h"
#include "center/bus.h"
#include "center/carriers.h"
#include "center/dispatch.h"
#include "center/held.h"
#include "center/hub.h"
#include "center/news.h"
#include "center/works.h"
#include "darwinnotify/distributed.h"
#include "util/call.h"

dn_center *dn_center_distributed(void)
{
        static dn_center center = { .ops = &dn__distributed_ops, .n_refs = 1 };

        return &center;
}

static void dispatch(dn__hub *hub, const dn__post *post)
{
        dn__crowd works = { 0 };

        dn__hub_lock(hub);
        dn__dispatch_post(hub, post, &works);
        dn__hub_unlock(hub);
        dn__works_run(&works);
}

/* --- What the carrier brings ---------------------------------------------------------------- */

/* Our own posts were passed on when they were made. */
static uint64_t received_distributed(void *context, const dn__post *post)
{
        if (post->origin.is_own)
                return 0;
        dispatch(context, post);
        return 1;
}

/* There is no table to check: the number of the next post shows what was missed. */
static void missed_distributed(void *context)
{
        (void)context;
}

static const dn__sink distributed_sink = {
        .received = received_distributed,
        .may_have_missed = missed_distributed,
        .connection_changed = dn__news_bus_changed,
        .closed = dn__bus_carrier_closed,
};

static int add_distributed_carrier(dn__hub *hub, dn__address address)
{
        dn__dbus_options options = {
                .address = address,
                .wire = &dn__wire_distributed,
                .loop = hub->loop,
                .sink = &distributed_sink,
                .context = hub,
        };
        int r;

        r = dn__dbus_new(&options, &hub->carriers[0]);
        if (r < 0)
                return r;
        hub->n_carriers = 1;
        /* Nobody wakes this center but its bus. */
        hub->inline_loop = hub->loop;
        return 0;
}

static int open_distributed(dn__hub *hub)
{
        return dn__bus_open(hub, add_distributed_carrier);
}

/* --- Posts ---------------------------------------------------------------------------------- */

static int post_distributed(dn__hub *hub, dn__post *post)
{
        uint64_t deadline_us = 0;
        int r;

        if (post->name.is_reserved && !dn__name_may_post(&post->name, geteuid()))
                return 0;
        if (post->name.reach != DN__REACH_PROCESS) {
                r = dn__carriers_start(hub, &deadline_us);
                if (r < 0)
                        return r;
        }
        dispatch(hub, post);
        return post->name.reach == DN__REACH_PROCESS ? 0
                                                     : dn__carriers_send(hub, post, &deadline_us);
}

const dn__center_ops dn__distributed_ops = {
        .reach = DN__REACH_BEYOND,
        .objects = DN_OBJECTS_TEXTS,
        .has_executors = true,
        .has_prefixes = true,
        .is_queued = true,
        .open = open_distributed,
        .close = dn__bus_close,
        .post = post_distributed,
};

/* --- Suspension ----------------------------------------------------------------------------- */

int dn_center_set_suspended(dn_center *center, bool is_suspended)
{
        DN__CALL();
        dn__crowd works = { 0 };
        dn__hub *hub;

        if (!center || !center->ops->is_queued)
                return -EINVAL;
        hub = dn__hub_get(center);
        if (!hub)
                return -ENOMEM;
        dn__hub_lock(hub);
        hub->is_suspended = is_suspended;
        if (!is_suspended)
                dn__held_deliver(hub, &works);
        dn__hub_unlock(hub);
        dn__works_run(&works);
        dn__hub_unref(hub);
        return 0;
}

bool dn_center_is_suspended(dn_center *center)
{
        DN__CALL();
        dn__hub *hub = center ? dn__hub_find(center) : NULL;
        bool is_suspended;

        if (!hub)
                return false;
        dn__hub_lock(hub);
        is_suspended = hub->is_suspended;
        dn__hub_unlock(hub);
        return is_suspended;
}
