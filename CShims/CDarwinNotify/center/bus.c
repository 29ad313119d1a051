/* Shared parts of the centers that use a bus: opening and closing a hub's loop and carriers. */
#include "center/bus.h"

#include "center/carriers.h"
#include "center/flush.h"
#include "center/table.h"
#include "center/topic.h"
#include "util/clock.h"
#include "util/debug.h"

/* --- The timer: topics that have lingered long enough --------------------------------------- */

static bool prepare_timer(dn__source *source, dn__wait *wait)
{
        wait->until_us = atomic_load(&DN__CONTAINER(source, dn__hub, timer)->sweep_us);
        return true;
}

static void dispatch_timer(dn__source *source)
{
        dn__topic_sweep(DN__CONTAINER(source, dn__hub, timer), dn__clock_now_us());
}

static const dn__source_ops timer_ops = { prepare_timer, dispatch_timer };

/* --- Opening and closing -------------------------------------------------------------------- */

static void loop_closed(void *context)
{
        dn__hub *hub = context;

        dn__carriers_free(hub);
        dn__hub_unref(hub);
}

static void tell_address(const dn__address *address)
{
        if (address->address)
                dn__debug_say(0, "looks for the bus %s", address->address);
        else
                dn__debug_say(0, "has no bus to look for (%s): only the user's processes are heard",
                              address->scope);
}

int dn__bus_open(dn__hub *hub, int (*add_carriers)(dn__hub *hub, dn__address address))
{
        dn__loop_options options = {
                .thread_name = "dn-service",
                .polls = true,
                .closed = loop_closed,
                .context = hub,
        };
        dn__address address = { 0 };
        int r;

        r = dn__address_resolve(hub->center->bus, &address);
        if (r < 0)
                return r;
        tell_address(&address);
        hub->lacks_bus = !address.address && !address.is_none;
        r = dn__loop_new(&options, &hub->loop);
        if (r < 0) {
                dn__address_deinit(&address);
                return r;
        }
        dn__flush_at_exit();
        r = add_carriers(hub, address);
        if (r < 0) {
                dn__hub_ref(hub); /* released by `closed` */
                hub->loop = dn__loop_close(hub->loop);
                return r;
        }
        atomic_init(&hub->n_open_carriers, hub->n_carriers);
        hub->timer.ops = &timer_ops;
        dn__loop_add(hub->loop, &hub->timer);
        return 0;
}

void dn__bus_close(dn__hub *hub)
{
        dn__table_end(hub);
        dn__topic_sweep(hub, DN__NEVER);
        dn__carriers_close(hub);
}

void dn__bus_carrier_closed(void *context)
{
        dn__hub *hub = context;

        if (atomic_fetch_sub(&hub->n_open_carriers, 1) == 1)
                (void)dn__loop_close(hub->loop);
}
