/* The carrier of a center over D-Bus. */
#pragma once

#include "bus/dbus.h"
#include "delivery/hub.h"

/* Adds the carrier of a center, if there is an address to connect to; may consume the address.
 * Returns 0 or -ENOMEM. */
int dn__bus_add_carrier(dn__hub *hub, dn__address *address, const dn__wire *wire,
                        const dn__sink *sink);
