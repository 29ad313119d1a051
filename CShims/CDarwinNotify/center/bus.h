/* Shared parts of the centers that use a bus. */
#pragma once

#include <stdbool.h>

#include "bus/address.h"
#include "bus/dbus.h"
#include "delivery/hub.h"

/* Gives a hub its loop and its carriers. `add_carriers` makes these, consumes the address, also on
 * failure. Returns 0 or a negative errno. */
int dn__bus_open(dn__hub *hub, int (*add_carriers)(dn__hub *hub, dn__address address));

/* Closes the carriers and the hub: the `close` of the center. */
void dn__bus_close(dn__hub *hub);

/* Functions of a sink whose context is the hub. */
void dn__bus_connection_changed(void *hub);
void dn__bus_carrier_closed(void *hub);

/* Sends a post over the bus, starting that if needed: as dn__dbus_send(). */
static inline int dn__bus_send(dn__hub *hub, const dn__post *post)
{
        uint64_t deadline_us = 0;
        int r;

        if (hub->lacks_bus)
                atomic_store_explicit(&hub->has_lost, true, memory_order_relaxed);
        r = dn__dbus_start(hub->bus, &deadline_us);
        return r < 0 ? r : dn__dbus_send(hub->bus, post);
}

/* Returns whether there was ever a connection. */
bool dn__bus_was_found(dn__hub *hub);
