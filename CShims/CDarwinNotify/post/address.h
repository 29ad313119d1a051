/* Selects the bus of a center. */
#pragma once

#include <stdbool.h>

typedef struct dn__address {
        char *address;  /* a D-Bus address, or NULL if there is nothing to connect to */
        char *scope;    /* its name as a rendezvous; never NULL */
        bool is_shared; /* other users are on this bus */
        bool is_none;   /* no bus is wanted */
} dn__address;

/* Returns whether a text is `session`, `system`, `none` or has the form of a D-Bus address. */
bool dn__address_names_bus(const char *bus);

/* Resolves such a text. NULL selects the environment variable DARWIN_NOTIFY_BUS or, if unset,
 * `session`. Returns 0, -EINVAL or -ENOMEM. */
int dn__address_resolve(const char *bus, dn__address *ret_address);

void dn__address_deinit(dn__address *address);
