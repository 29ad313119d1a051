/* How requests are encoded as D-Bus messages (docs/wire.md). */
#pragma once

#include <stddef.h>

#include <systemd/sd-bus.h>

#include "darwinnotify/dict.h"

/* The interface and method by which a caller ends its call: the argument is the call's serial. */
#define DN__CALLS_INTERFACE "org.darwinnotify.Calls1"
#define DN__CALLS_CANCEL "Cancel"

/* Reads the arguments of a request: one a{sv}, or none. Returns 0; -EINVAL if they have other
 * types; -EBADMSG, -E2BIG or -ENOMEM as dn__values_read(). */
int dn__call_read_arguments(sd_bus_message *message, dn_dict **ret_arguments);

/* Reads the arguments of a reply. One value, perhaps in a variant, is that of DN_REPLY_VALUE; none
 * makes an empty dictionary. Returns 0, -EBADMSG, -E2BIG or -ENOMEM. */
int dn__call_read_reply(sd_bus_message *message, dn_dict **ret_reply);

/* Reads what follows the text of an error as the value of DN_REPLY_VALUE. Returns NULL if there is
 * nothing, or no such value. */
dn_dict *dn__call_read_details(sd_bus_message *message);

/* Returns the meaning of an error, as the `error` of dn_outcome. */
int dn__call_read_error(const sd_bus_error *error);

/* What answers a call: a reply or an error. */
typedef struct dn__answer {
        const char *error;     /* its name; NULL: a reply */
        const char *text;      /* of the error; NULL: none */
        const dn_dict *values; /* the reply or details of the error, as DN_REPLY_VALUE; or NULL */
} dn__answer;

/* Makes the message that answers a call, without its contents. A malformed name of an error is
 * replaced by DN_ERROR_FAILED. Returns success or a negative errno of sd-bus. */
int dn__call_make_answer(sd_bus_message *call, const dn__answer *answer,
                         sd_bus_message **ret_message);

/* Appends the contents: of an error the text, replaced by "" if it is malformed; then the value, if
 * any. An empty reply is an empty dictionary. Returns as above. */
int dn__call_append_answer(sd_bus_message *message, const dn__answer *answer);

/* Writes the introspection of a service: `kinds` are sorted. NULL if out of memory. */
char *dn__introspection_new(const char *const *kinds, size_t n_kinds);

/* Writes the introspection of a path above a service; `child` is the rest of the service's path. */
char *dn__introspection_new_parent(const char *child);
