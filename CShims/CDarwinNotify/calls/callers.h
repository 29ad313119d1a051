/* The processes that make requests. */
#pragma once

#include "calls/state.h"

/* Prepares for callers. */
void dn__callers_init(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);

/* Finds a caller; NULL: unknown. */
dn__caller *dn__caller_find(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock);

/* Finds a caller, or asks the bus about it; `calls->answered_who` gets the reply. Returns NULL if
 * out of memory, or if the connection is broken. */
dn__caller *dn__caller_get(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock);

typedef enum dn__user_answer {
        DN__USER_READ,
        DN__USER_GONE,  /* the caller has left */
        DN__USER_ASKED, /* again: another process answered in place of the bus */
} dn__user_answer;

/* Reads the user of a caller. */
dn__user_answer dn__caller_read_user(dn__calls *calls, dn__caller *caller, sd_bus_message *message)
        DN__REQUIRES(&calls->dbus->lock);

/* Adds a request to its caller's list, or removes it: it was answered, or nobody is waiting. */
void dn__caller_add(dn__calls *calls, dn__caller *caller, dn_request *request)
        DN__REQUIRES(&calls->dbus->lock);
void dn__caller_remove(dn__calls *calls, dn_request *request) DN__REQUIRES(&calls->dbus->lock);

/* Forgets a caller without requests. */
void dn__caller_forget(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock);

/* The connection with its rules is lost, and all callers are forgotten. */
void dn__callers_disconnected(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);
