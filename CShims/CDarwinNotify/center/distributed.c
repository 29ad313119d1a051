/* The distributed center: its posts deliver data to every process on the same bus. */
#include <errno.h>

#include "bus/dbus.h"
#include "center/center.h"
#include "center/on-bus.h"
#include "darwinnotify/distributed.h"
#include "delivery/delivery.h"
#include "delivery/hub.h"
#include "delivery/payloads.h"
#include "util/gate.h"

static void dispatch(dn__hub *hub, const dn__post *post)
{
        dn__payload *payload;

        if (atomic_load(&hub->n_observers) == 0)
                return;
        payload = dn__payload_new(post);
        dn__hub_lock(hub);
        dn__payloads_hand(hub, post, payload);
        dn__hub_unlock_and_run(hub);
        dn__payload_unref(payload);
}

/* --- Carrier callbacks ---------------------------------------------------------------------- */

/* Our own posts were passed on when they were made. */
static uint64_t received_distributed(void *context, const dn__post *post)
{
        if (post->origin.is_own)
                return 0;
        dispatch(context, post);
        return 1;
}

static void distributed_connection_changed(void *context)
{
        dn__hub *hub = context;

        dn__hub_lock(hub);
        hub->n_losses = (uint16_t)dn__carrier_get_status(hub->bus).n_losses;
        dn__hub_unlock(hub);
        dn__bus_connection_changed(hub);
}

/* There is no table to check: the number of the next post reveals missed posts. */
static const dn__sink distributed_sink = {
        .received = received_distributed,
        .connection_changed = distributed_connection_changed,
        .closed = dn__bus_carrier_closed,
};

static int add_distributed_carrier(dn__hub *hub, dn__address *address)
{
        /* Nobody wakes this center but its bus. */
        hub->inline_loop = hub->loop;
        return dn__bus_add_carrier(hub, address, &dn__wire_distributed, &distributed_sink);
}

/* --- Posts ---------------------------------------------------------------------------------- */

static int post_distributed(dn__hub *hub, dn__post *post)
{
        dispatch(hub, post);
        return post->name.reach == DN__REACH_PROCESS ? 0 : hub->bus->ops->post(hub->bus, post);
}

static const dn__center_ops distributed_ops = {
        .reach = DN__REACH_BEYOND,
        .objects = DN_OBJECTS_TEXTS,
        .has_executors = true,
        .is_queued = true,
        .open = dn__bus_open,
        .add_carriers = add_distributed_carrier,
        .close = dn__bus_close,
        .post = post_distributed,
};

dn_center *dn_center_distributed(void)
{
        static dn_center center = { .ops = &distributed_ops, .n_refs = 1 };

        return &center;
}

int dn_center_open_distributed(const char *bus, dn_center **ret_center)
{
        return dn__center_open(&distributed_ops, bus, ret_center);
}

/* --- Suspension ----------------------------------------------------------------------------- */

int dn_center_set_suspended(dn_center *center, bool is_suspended)
{
        DN__GATE();
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r;

        r = center && center->ops->is_queued ? dn__hub_get(center, &hub) : -EINVAL;
        if (r == 0)
                dn__payloads_set_suspended(hub, is_suspended);
        return r;
}

bool dn_center_is_suspended(dn_center *center)
{
        DN__GATE();
        dn__hub *hub = center ? dn__hub_find(center) : NULL;

        if (!hub)
                return false;
        DN__HUB_AUTO_LOCK(hub);
        return hub->suspension.is_active;
}
