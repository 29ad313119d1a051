/* Requests to other processes: each ends exactly once. */
#pragma once

#include "calls/state.h"

/* Ends the call that a message answers. Returns false if there is none. Without the lock. */
bool dn__call_handle_answer(dn__calls *calls, sd_bus_message *message);

/* Ends the calls whose time is over. */
void dn__calls_expire(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);

/* Ends all calls with an error. */
void dn__calls_end_all(dn__calls *calls, int error) DN__REQUIRES(&calls->dbus->lock);
