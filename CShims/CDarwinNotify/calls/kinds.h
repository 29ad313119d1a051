/* The kinds that a service exports: under the lock of the connection, once the service is open. */
#pragma once

#include "calls/state.h"

bool dn__kinds_have(const dn_service *service, const char *kind);

/* Adds a kind, if it is not there. Returns 0 or -ENOMEM. */
int dn__kinds_add(dn_service *service, const char *kind);

/* Returns 0, or -EINVAL if it is not there. */
int dn__kinds_remove(dn_service *service, const char *kind);

/* Returns the introspection; NULL if out of memory. Without the lock, which is held only while the
 * kinds are copied. */
char *dn__kinds_introspect(const dn_service *service);

/* Frees all kinds when the service ends. */
void dn__kinds_free(dn_service *service);
