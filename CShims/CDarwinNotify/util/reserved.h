/* The words at the end of public structures, reserved for later versions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A program that sets one was written for a later version, and depends on its meaning. */
static inline bool dn__reserved_is_zero(const uint64_t reserved[2])
{
        return !(reserved[0] | reserved[1]);
}
