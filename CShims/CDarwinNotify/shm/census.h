/* The names of a table that living processes hold. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shm/region.h"

typedef struct dn__census_name {
        char *name; /* 1 to 511 bytes of UTF-8, NUL-terminated */
        uint64_t generation;
        uint64_t state;
        size_t n_holders; /* 1 or more; a process that is known to have two entries is one */
        int32_t *pids;    /* as each process sees itself; 0: not known */
} dn__census_name;

/* All zero is empty. */
typedef struct dn__census {
        dn__census_name *names; /* in byte order, each once */
        size_t n_names;
        size_t n_allocated;
} dn__census;

/* Looks at all slots, without a lock: each name was as it is told at some moment meanwhile. What
 * a table of this library does not hold is left out. Returns 0 or -ENOMEM. */
int dn__census_take(const dn__region *region, dn__census *ret_census);

void dn__census_deinit(dn__census *census);
