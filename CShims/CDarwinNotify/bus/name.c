/* How a notification name is written on the bus (docs/wire.md). */
#include "bus/name.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "darwinnotify/base.h"
#include "util/hash.h"
#include "util/utf8.h"

#define N_PREFIX_BYTES (sizeof(DN__WIRE_INTERFACE_PREFIX) - 1)

static const char hex_digits[] = "0123456789abcdef";

bool dn__name_is_local(const char *name)
{
        return strncmp(name, "self.", 5) == 0;
}

int dn__name_check(const char *name, size_t *ret_n_bytes)
{
        size_t n_bytes;

        if (!name || !*name)
                return -EINVAL;
        n_bytes = strlen(name);
        if (!dn__utf8_is_valid(name, n_bytes))
                return -EINVAL;
        if (n_bytes > DN_NAME_MAX_BYTES && !dn__name_is_local(name))
                return -ENAMETOOLONG;
        *ret_n_bytes = n_bytes;
        return 0;
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* A dot stays if it stands between two elements that are not empty. */
static bool is_separator(const char *name, size_t n_bytes, size_t i)
{
        return name[i] == '.' && i > 0 && name[i - 1] != '.' && i + 1 < n_bytes &&
               name[i + 1] != '.';
}

static bool stays(const char *name, size_t n_bytes, size_t i)
{
        if (is_digit(name[i]))
                return i > 0 && !is_separator(name, n_bytes, i - 1);
        return is_letter(name[i]) || is_separator(name, n_bytes, i);
}

/* Returns the number of bytes written, or 0 if they would be more than `n_available`. */
static size_t escape(const char *name, size_t n_bytes, char *out, size_t n_available)
{
        size_t n = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                unsigned char byte = (unsigned char)name[i];
                bool plain = stays(name, n_bytes, i);

                if (n + (plain ? 1 : 3) > n_available)
                        return 0;
                if (plain) {
                        out[n++] = name[i];
                        continue;
                }
                out[n++] = '_';
                out[n++] = hex_digits[byte >> 4];
                out[n++] = hex_digits[byte & 15];
        }
        return n;
}

/* "_h" is what the escape never writes: its digits end with f. */
static size_t write_hash(const char *name, size_t n_bytes, char *out)
{
        dn__u128 hash = dn__hash128(name, n_bytes);

        out[0] = '_';
        out[1] = 'h';
        for (size_t i = 0; i < 32; i++)
                out[2 + i] = hex_digits[(unsigned)(hash >> (124 - 4 * i)) & 15];
        return 34;
}

size_t dn__name_to_interface(const char *name, size_t n_bytes,
                             char ret_interface[DN__WIRE_INTERFACE_BYTES])
{
        char *out = ret_interface + N_PREFIX_BYTES;
        size_t n;

        memcpy(ret_interface, DN__WIRE_INTERFACE_PREFIX, N_PREFIX_BYTES);
        n = escape(name, n_bytes, out, DN__WIRE_INTERFACE_BYTES - 1 - N_PREFIX_BYTES);
        if (!n)
                n = write_hash(name, n_bytes, out);
        out[n] = '\0';
        return N_PREFIX_BYTES + n;
}
