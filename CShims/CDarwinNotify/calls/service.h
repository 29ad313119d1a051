/* Services: names on the bus under which requests are answered. */
#pragma once

#include "calls/state.h"

/* Finds the service at a path, or one below it, whose path goes on with `child`; else that is NULL.
 * The caller gets a reference. NULL: there is none. */
dn_service *dn__service_find(dn__calls *calls, const char *path, const char **ret_child)
        DN__REQUIRES(&calls->dbus->lock);

dn_service *dn__service_ref(dn_service *service);

/* Never under the lock: the last one runs code of the host. */
void dn__service_unref(dn_service *service);

/* Closes all services for their owners, who may still do so. Without the lock. */
void dn__services_close(dn__calls *calls);

/* Requests the names again, after the bus was found. */
void dn__services_connected(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);
void dn__services_disconnected(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock);

/* Records that the bus has given a name to the process, or taken it away. Returns whether it is the
 * name of a service. */
bool dn__service_note_name(dn__calls *calls, const char *name, bool is_ours)
        DN__REQUIRES(&calls->dbus->lock);
