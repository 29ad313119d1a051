/* Who may answer a call: the owner of the name of its service. */
#pragma once

#include "calls/state.h"

/* Asks the bus who owns the name. Returns 0 or a negative errno. */
int dn__call_ask_for_owner(dn__calls *calls, dn_call *call) DN__REQUIRES(&calls->dbus->lock);

/* Reads the reply. Returns 0, or the negative errno with which the call ends. */
int dn__call_note_owner(dn__calls *calls, dn_call *call, sd_bus_message *message)
        DN__REQUIRES(&calls->dbus->lock);

/* Returns whether a process that is not the bus may answer. */
bool dn__call_check_sender(dn__calls *calls, dn_call *call, const char *sender)
        DN__REQUIRES(&calls->dbus->lock);
