/* Lists the names in a table that living processes hold. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "table/region.h"

typedef struct dn__census_name {
        char *name; /* 1 to 511 bytes of UTF-8, NUL-terminated */
        uint64_t generation;
        uint64_t state;
        size_t n_holders; /* 1 or more; two entries known to be of one process count once */
        int32_t *pids;    /* process IDs as each process sees its own; 0: unknown */
} dn__census_name;

/* All zero: empty. */
typedef struct dn__census {
        dn__census_name *names; /* in byte order, without duplicates */
        size_t n_names;
} dn__census;

/* Scans all slots without a lock: each name is as it was at some moment during the scan. Entries
 * that this library would not write are skipped. Returns 0 or -ENOMEM. */
int dn__census_take(const dn__region *region, dn__census *ret_census);

void dn__census_deinit(dn__census *census);
