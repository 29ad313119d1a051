/* Which byte strings may be names on a D-Bus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Tells whether the bytes are UTF-8 that sd-bus accepts too: no overlong forms, no surrogates,
 * nothing above U+10FFFF, no noncharacters (U+FDD0 to U+FDEF, U+xxFFFE, U+xxFFFF). The brokers
 * carry noncharacters, but libsystemd refuses to write or read them. */
bool dn__utf8_is_valid(const char *bytes, size_t n_bytes);
