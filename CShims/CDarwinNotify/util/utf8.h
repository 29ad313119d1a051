/* Checks which byte strings can be names on a D-Bus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the bytes are UTF-8 that sd-bus accepts: no overlong forms, no surrogates,
 * nothing above U+10FFFF, no noncharacters (U+FDD0 to U+FDEF, U+xxFFFE, U+xxFFFF). The brokers
 * accept noncharacters, but libsystemd neither writes nor reads them. */
bool dn__utf8_is_valid(const char *bytes, size_t n_bytes);
