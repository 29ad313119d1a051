/* String helpers. */
#pragma once

#include <stdbool.h>
#include <string.h>

static inline bool dn__text_begins_with(const char *text, const char *prefix)
{
        return strncmp(text, prefix, strlen(prefix)) == 0;
}
