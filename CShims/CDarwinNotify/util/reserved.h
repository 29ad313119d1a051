/* The words with which public structures end, for later versions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A program that sets one was written for a later version, and cannot do without its meaning. */
static inline bool dn__reserved_is_zero(const uint64_t reserved[2])
{
        return !(reserved[0] | reserved[1]);
}
