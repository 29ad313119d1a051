/* The names in a request: its service, its kind. */
#pragma once

#include <stdbool.h>

/* D-Bus limits names, and a path made of one, to 255 bytes; and a NUL. */
#define DN__CALL_NAME_BYTES 256

/* Returns whether it is a name that a process can own. */
bool dn__service_name_is_valid(const char *name);

/* Writes the path of a service with a valid name. */
void dn__service_write_path(const char *name, char ret_path[DN__CALL_NAME_BYTES]);

/* Returns the last part of a kind, or NULL if it is not an interface, a dot, and a member. */
const char *dn__kind_split(const char *kind, char ret_interface[DN__CALL_NAME_BYTES]);
