/* Handles messages from the bus, posts or not. */
#pragma once

#include "bus/state.h"

/* Delivers a message, defers it until its sender is known, or drops it. */
void dn__dbus_handle(dn__dbus *dbus, sd_bus_message *message);

/* Delivers deferred posts whose senders are now known. */
void dn__dbus_handle_decided(dn__dbus *dbus);
