/* Shared parts of the centers that use a bus. */
#pragma once

#include <stdbool.h>

#include "bus/address.h"
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
int dn__bus_send(dn__hub *hub, const dn__post *post);

/* Returns whether there was ever a connection. */
bool dn__bus_was_found(dn__hub *hub);
