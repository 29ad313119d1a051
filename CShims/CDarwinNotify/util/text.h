/* Text: UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns whether the bytes are UTF-8 that sd-bus accepts: no overlong forms, no surrogates,
 * nothing above U+10FFFF, no noncharacters (U+FDD0 to U+FDEF, U+xxFFFE, U+xxFFFF). The brokers
 * accept noncharacters, but libsystemd neither writes nor reads them. */
bool dn__utf8_rest_is_valid(const char *bytes, size_t n_bytes);

/* Most texts are ASCII. */
static inline bool dn__utf8_is_valid(const char *bytes, size_t n_bytes)
{
        size_t i = 0;

        while (i < n_bytes && !(bytes[i] & 0x80))
                i++;
        return i == n_bytes || dn__utf8_rest_is_valid(bytes + i, n_bytes - i);
}

static inline bool dn__text_begins_with(const char *text, const char *prefix)
{
        return strncmp(text, prefix, strlen(prefix)) == 0;
}
