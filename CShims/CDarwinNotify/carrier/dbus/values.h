/* Property lists as D-Bus values (docs/wire.md). */
#pragma once

#include <systemd/sd-bus.h>

#include "darwinnotify/dict.h"

/* Appends a dictionary as `a{sv}`. Returns 0 or a negative errno of sd-bus. */
int dn__values_append(sd_bus_message *message, const dn_dict *dict);

/* Reads the next `a{sv}`. Values of types that dict.h lacks become the nearest type. Returns 0;
 * -EBADMSG if it is malformed, too large, or contains something without a nearest type; -ENOMEM.
 * The message is unusable after an error. */
int dn__values_read(sd_bus_message *message, dn_dict **ret_dict);
