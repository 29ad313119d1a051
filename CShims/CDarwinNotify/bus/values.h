/* Property lists as D-Bus values (docs/wire.md). */
#pragma once

#include <systemd/sd-bus.h>

#include "darwinnotify/dict.h"

/* Appends a value as a variant. Returns success or a negative errno of sd-bus. */
int dn__values_append_variant(sd_bus_message *message, const dn_value *value);

/* Appends a dictionary as `a{sv}`. Returns as above. */
int dn__values_append(sd_bus_message *message, const dn_dict *dict);

/* Reads the next `a{sv}`. Values of types that dict.h lacks become the nearest type. Returns 0;
 * -E2BIG if it exceeds a limit; -EBADMSG if it is malformed or contains something without a nearest
 * type; -ENOMEM. The message is unusable after an error. */
int dn__values_read(sd_bus_message *message, dn_dict **ret_dict);

/* Reads the next value, of any type, as that of a key. Returns as dn__values_read(). */
int dn__values_read_as(sd_bus_message *message, const char *key, dn_dict **ret_dict);
