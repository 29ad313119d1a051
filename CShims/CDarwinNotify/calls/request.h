/* Requests of other processes: from the message to the reply. */
#pragma once

#include "calls/state.h"

/* Handles a method call. Returns false if there are no services. Without the lock. */
bool dn__request_handle(dn__calls *calls, sd_bus_message *message);

/* Forgets a caller that has left the bus, and cancels its requests. */
void dn__requests_left(dn__calls *calls, const char *caller) DN__REQUIRES(&calls->dbus->lock);

/* Forgets all callers. */
void dn__requests_disconnected(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);

/* Hands over the requests of a caller, once the bus has answered who it is. The context is the
 * caller. */
int dn__request_answered_who(sd_bus_message *message, void *context, sd_bus_error *error);
