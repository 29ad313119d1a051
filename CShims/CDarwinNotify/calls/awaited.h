/* The replies that calls wait for. */
#pragma once

#include "calls/state.h"

/* Finds the reply that has the serial of its call; NULL: none is awaited. */
dn__awaited *dn__awaited_find(dn__calls *calls, uint64_t serial)
        DN__REQUIRES(&calls->dbus->lock);

/* Sends the message that is to be answered. Returns 0 or a negative errno. */
int dn__awaited_send(dn__calls *calls, sd_bus_message *message, dn__awaited *answer)
        DN__REQUIRES(&calls->dbus->lock);

/* Waits no longer, if at all. */
void dn__awaited_forget(dn__calls *calls, dn__awaited *answer) DN__REQUIRES(&calls->dbus->lock);
