/* The rendezvous key of a bus: equal for processes on the same bus. */
#pragma once

#include <stdio.h>

/* Returns the canonical form of a D-Bus address: the first entry of the list that may have a bus
 * behind it, without the server's GUID, its keys sorted; a socket path has its symbolic links
 * resolved. Text that is not an address is returned unchanged. Owned by the caller; NULL if out of
 * memory. */
char *dn__scope_of_address(const char *address);

/* Writes an address value, escaped as needed. */
void dn__scope_escape(FILE *stream, const char *value);
