/* The processes that make requests. */
#pragma once

#include "calls/base.h"

/* Finds a caller; NULL: unknown. */
dn__caller *dn__caller_find(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock);

/* Finds a caller, or asks the bus about it; `calls->answered_who` gets the answer. Returns NULL if
 * out of memory, or if the connection is broken. */
dn__caller *dn__caller_get(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock);

/* Reads the user of a caller. Returns false if it has left. */
bool dn__caller_read_user(dn__caller *caller, sd_bus_message *message);

/* Adds a request to its caller's list, or removes it: it was answered, or nobody is waiting. */
void dn__caller_add(dn__calls *calls, dn__caller *caller, dn_request *request)
        DN__REQUIRES(&calls->dbus->lock);
void dn__caller_remove(dn__calls *calls, dn_request *request) DN__REQUIRES(&calls->dbus->lock);

/* Forgets a caller without requests. */
void dn__caller_forget(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock);

/* The connection with its rules is lost, and all callers are forgotten. */
void dn__callers_disconnected(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);
