/* What the centers have on a bus: nothing, in a library without D-Bus. */
#include "center/center.h"
#include "post/address.h"
#include "util/debug.h"

static void say_absence(const dn__address *address)
{
        dn__debug_say(0, "no bus to look for (%s); only this user's processes can be heard",
                      address->scope);
}

#if DN_HAS_BUS

#include "calls/calls.h"
#include "center/on-bus.h"

int dn__bus_add_carrier(dn__hub *hub, dn__address *address, const dn__wire *wire,
                        const dn__sink *sink)
{
        dn__dbus_options options = { address, wire, hub->loop, sink, hub };
        int r;

        hub->absence.is_missed = !address->address && !address->is_none;
        if (!address->address) {
                say_absence(address);
                return 0;
        }
        dn__debug_say(0, "looking for the bus %s", address->address);
        r = dn__dbus_new(&options, &hub->bus);
        if (r == 0)
                atomic_fetch_add(&hub->n_open_carriers, 1);
        return r;
}

int dn__bus_add(dn__hub *hub, dn__address *address, const dn__sink *sink)
{
        bool has_bus = address->address;
        int r = dn__bus_add_carrier(hub, address, &dn__wire_darwin, sink);

        return r == 0 && has_bus ? dn__calls_new(hub, &hub->calls) : r;
}

bool dn__bus_has_calls(dn__hub *hub)
{
        return !dn__calls_are_idle(hub->calls);
}

void dn__bus_cancel_calls(dn__hub *hub)
{
        dn__calls_cancel(hub->calls);
}

void dn__bus_free_calls(dn__hub *hub)
{
        dn__calls_free(hub->calls);
}

#else

int dn__bus_add(dn__hub *hub, dn__address *address, const dn__sink *sink)
{
        (void)hub;
        (void)sink;
        say_absence(address);
        return 0;
}

bool dn__bus_has_calls(dn__hub *hub)
{
        (void)hub;
        return false;
}

void dn__bus_cancel_calls(dn__hub *hub)
{
        (void)hub;
}

void dn__bus_free_calls(dn__hub *hub)
{
        (void)hub;
}

#endif
