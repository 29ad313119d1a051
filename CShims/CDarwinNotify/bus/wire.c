/* How posts are encoded on the bus (docs/wire.md). */
#include "bus/wire.h"

#include <stdio.h>
#include <string.h>

#include "util/hash.h"

/* --- Names as interfaces ------------------------------------------------------------------ */

static const char hex_digits[] = "0123456789abcdef";

/* A dot is kept if it stands between two non-empty elements. */
static bool is_separator(const dn__name *name, size_t i)
{
        const char *text = name->text;

        return text[i] == '.' && i > 0 && text[i - 1] != '.' && i + 1 < name->n_bytes &&
               text[i + 1] != '.';
}

static bool is_unescaped(const dn__name *name, size_t i)
{
        char c = name->text[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
                return true;
        if (c >= '0' && c <= '9')
                return i > 0 && !is_separator(name, i - 1);
        return is_separator(name, i);
}

/* Returns the number of bytes written, or 0 if more than `n_available` would be needed. */
static size_t escape(const dn__name *name, char *out, size_t n_available)
{
        size_t n = 0;

        for (size_t i = 0; i < name->n_bytes; i++) {
                unsigned char byte = (unsigned char)name->text[i];
                bool plain = is_unescaped(name, i);

                if (n + (plain ? 1 : 3) > n_available)
                        return 0;
                if (plain) {
                        out[n++] = name->text[i];
                        continue;
                }
                out[n++] = '_';
                out[n++] = hex_digits[byte >> 4];
                out[n++] = hex_digits[byte & 15];
        }
        return n;
}

/* "_h" never occurs in escaped text, whose digits end at f. */
static size_t write_hash(const dn__name *name, char *out)
{
        dn__u128 hash = dn__hash128(name->text, name->n_bytes);

        out[0] = '_';
        out[1] = 'h';
        for (size_t i = 0; i < 32; i++)
                out[2 + i] = hex_digits[(unsigned)(hash >> (124 - 4 * i)) & 15];
        return 34;
}

size_t dn__wire_write_interface(const dn__wire *wire, const dn__name *name,
                                char ret_interface[DN__WIRE_INTERFACE_BYTES])
{
        size_t n_prefix_bytes = strlen(wire->interface_prefix), n;
        char *out = ret_interface + n_prefix_bytes;

        memcpy(ret_interface, wire->interface_prefix, n_prefix_bytes);
        n = escape(name, out, DN__WIRE_INTERFACE_BYTES - 1 - n_prefix_bytes);
        if (!n)
                n = write_hash(name, out);
        out[n] = '\0';
        return n_prefix_bytes + n;
}

void dn__wire_write_rule(const dn__wire *wire, const char *interface, bool is_exact,
                         char ret_rule[DN__WIRE_RULE_BYTES])
{
        (void)snprintf(ret_rule, DN__WIRE_RULE_BYTES, "type='signal',%s='%s'%s%s%s",
                       wire->has_natives && !is_exact ? "path_namespace" : "path", wire->path,
                       interface ? ",interface='" : "", interface ? interface : "",
                       interface ? "'" : "");
}

/* --- Posts as messages, and back ------------------------------------------------------------ */

int dn__wire_make_post(const dn__wire *wire, sd_bus *bus, const dn__post *post, const char *path,
                       sd_bus_message **ret_message)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int r;

        (void)dn__wire_write_interface(wire, &post->name, interface);
        r = sd_bus_message_new_signal(bus, &message, path, interface, DN__WIRE_MEMBER);
        if (r >= 0)
                r = wire->append(message, post);
        if (r < 0)
                return r;
        *ret_message = DN__TAKE(message);
        return 0;
}

static bool is_path(const dn__wire *wire, const char *path)
{
        size_t n_bytes = strlen(wire->path);

        return path && strncmp(path, wire->path, n_bytes) == 0 &&
               (!path[n_bytes] || (wire->has_natives && path[n_bytes] == '/'));
}

/* The message was routed by interface, but the name is authoritative: the two must agree. */
static bool read_name(const dn__wire *wire, sd_bus_message *message, dn__name *ret_name)
{
        const char *text, *found = sd_bus_message_get_interface(message);
        char interface[DN__WIRE_INTERFACE_BYTES];

        if (sd_bus_message_read_basic(message, 's', &text) <= 0 ||
            dn__name_init(ret_name, text, DN__REACH_BEYOND) < 0 ||
            ret_name->reach == DN__REACH_PROCESS)
                return false;
        (void)dn__wire_write_interface(wire, ret_name, interface);
        return found && strcmp(found, interface) == 0;
}

/* Extra arguments are accepted so that the body can grow; descriptors are not. */
bool dn__wire_read_post(const dn__wire *wire, sd_bus_message *message, dn__post *ret_post)
{
        const char *signature = sd_bus_message_get_signature(message, true);
        dn__post post = {
                .origin.sender = sd_bus_message_get_sender(message),
                .origin.center = wire->center,
        };

        if (sd_bus_message_is_signal(message, NULL, DN__WIRE_MEMBER) <= 0 ||
            !is_path(wire, sd_bus_message_get_path(message)) || !post.origin.sender ||
            !signature || signature[0] != 's' || strchr(signature, 'h') ||
            !read_name(wire, message, &post.name) || !wire->read(message, signature, &post))
                return false;
        *ret_post = post;
        return true;
}
