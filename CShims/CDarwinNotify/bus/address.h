/* Which bus a center talks to. */
#pragma once

#include <stdbool.h>

typedef struct dn__address {
        char *address;  /* a D-Bus address, or NULL: there is nothing to connect to */
        bool is_shared; /* other users are on this bus */
} dn__address;

/* Resolves `session`, `system`, `none` or a D-Bus address; NULL stands for the environment
 * variable DARWIN_NOTIFY_BUS and, without it, for `session`. Returns 0 or -ENOMEM. */
int dn__address_resolve(const char *bus, dn__address *ret_address);

void dn__address_deinit(dn__address *address);
