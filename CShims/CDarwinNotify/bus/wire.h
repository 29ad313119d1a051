/* How posts are encoded on the bus (docs/wire.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "darwinnotify/base.h"
#include "post/post.h"
#include "util/cleanup.h"

/* Marks a variable that owns a message, or NULL. */
#define DN__UNREFS_MESSAGE DN__CLEANUP(sd_bus_message_unrefp)

#define DN__WIRE_MEMBER "Posted"

/* The D-Bus limit of 255 bytes, plus the NUL. */
#define DN__WIRE_INTERFACE_BYTES 256

/* The longest path, with the NUL. */
#define DN__WIRE_PATH_BYTES 48

/* Fits the longest name, interface and path, and 128 bytes of framing. */
#define DN__WIRE_POST_BYTES                                                                        \
        (DN__WIRE_INTERFACE_BYTES + DN_NAME_MAX_BYTES + 1 + DN__WIRE_PATH_BYTES + 128)

/* The signals of one kind of center. */
typedef struct dn__wire {
        const char *center; /* human-readable name of the kind */
        const char *path;
        bool has_natives; /* posts may also have a path below that one: see rules.h */
        const char *interface_prefix; /* ends with a dot */

        /* Writes a post as the bytes of a message on the socket and returns their number. The
         * serial must not be 0. NULL: sd-bus makes every message. */
        size_t (*write)(const dn__post *post, const char *path, uint32_t serial,
                        char ret_bytes[DN__WIRE_POST_BYTES]);

        /* Gives written posts the plain path. Returns their new number of bytes. */
        size_t (*make_plain)(char *bytes, size_t n_bytes);

        /* Appends the arguments of a post. Returns a negative errno, or success. */
        int (*append)(sd_bus_message *message, const dn__post *post);

        /* Reads the arguments after the name, which is the first. The signature is that of all
         * arguments. Returns false if it does not match. */
        bool (*read)(sd_bus_message *message, const char *signature, dn__post *post);
} dn__wire;

extern const dn__wire dn__wire_darwin;
extern const dn__wire dn__wire_distributed;

/* Writes the interface of a name, NUL-terminated, and returns its length. Distinct names have
 * distinct interfaces, except names too long to be written out that have equal hashes. */
size_t dn__wire_write_interface(const dn__wire *wire, const dn__name *name,
                                char ret_interface[DN__WIRE_INTERFACE_BYTES]);

/* Large enough for a match rule: path and interface, with their keys. dbus-daemon and dbus-broker
 * reject more than 1024 bytes. */
#define DN__WIRE_RULE_BYTES 512

/* Writes the match rule of an interface, or of all if NULL. It is the argument of `AddMatch`.
 * `is_exact`: for posts on the plain path only. */
void dn__wire_write_rule(const dn__wire *wire, const char *interface, bool is_exact,
                         char ret_rule[DN__WIRE_RULE_BYTES]);

/* Makes the message of a post for sd-bus. Returns 0 or a negative errno. */
int dn__wire_make_post(const dn__wire *wire, sd_bus *bus, const dn__post *post, const char *path,
                       sd_bus_message **ret_message);

/* Reads a post sent by another connection or our own. Returns false if the message is not a valid
 * post. Its strings are borrowed from the message; dn__post_release() releases the rest. */
bool dn__wire_read_post(const dn__wire *wire, sd_bus_message *message, dn__post *ret_post);
