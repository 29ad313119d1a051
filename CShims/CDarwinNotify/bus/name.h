/* How a notification name is written on the bus (docs/wire.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DN__WIRE_PATH "/org/darwinnotify/Darwin1"
#define DN__WIRE_INTERFACE_PREFIX "org.darwinnotify.Darwin1."
#define DN__WIRE_MEMBER "Posted"

/* D-Bus allows 255 bytes; with the NUL. */
#define DN__WIRE_INTERFACE_BYTES 256

/* Tells whether a name never leaves the process. Such names have no length limit. */
bool dn__name_is_local(const char *name);

/* Returns 0 and the length, -EINVAL (NULL, empty, or not UTF-8 as D-Bus has it), or, for a name
 * that leaves the process, -ENAMETOOLONG. */
int dn__name_check(const char *name, size_t *ret_n_bytes);

/* Writes the interface of a checked name, NUL-terminated, and returns its length. Distinct names
 * have distinct interfaces, but for those that are too long to be written out and whose hashes are
 * equal. */
size_t dn__name_to_interface(const char *name, size_t n_bytes,
                             char ret_interface[DN__WIRE_INTERFACE_BYTES]);
