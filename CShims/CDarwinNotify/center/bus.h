/* Shared parts of the centers that use a bus: opening and closing a hub's loop and carriers. */
#pragma once

#include "carrier/address.h"
#include "center/hub.h"

/* Gives a hub its loop and its carriers. `add_carriers` makes these, consumes the address, also on
 * failure, and sets `n_carriers`. Returns 0 or a negative errno. */
int dn__bus_open(dn__hub *hub, int (*add_carriers)(dn__hub *hub, dn__address address));

/* Closes the carriers and the hub: the `close` of the center. */
void dn__bus_close(dn__hub *hub);

/* The `closed` function of a sink whose context is the hub. */
void dn__bus_carrier_closed(void *hub);
