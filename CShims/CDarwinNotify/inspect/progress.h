/* Remembers how far the posts of each name in a table were reported. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "shm/region.h"

/* Of one name. */
typedef struct dn__reported {
        uint64_t tag;  /* of the name; 0: there is none */
        uint64_t read; /* the last generation that a reading reported; 0: none */
        uint64_t last; /* the last one that was reported at all, or is not new */
} dn__reported;

typedef struct dn__progress {
        dn__reported slots[DN__SHM_N_SLOTS];
        /* Of the previous table's slots: names that may still get a slot that continues. */
        dn__reported before[DN__SHM_N_SLOTS];
} dn__progress;

/* What was counted before is not new. Call it with everything zero. */
void dn__progress_begin(dn__progress *progress, const dn__region *region);

/* Returns how far the posts of a slot that has a name were reported, borrowed. */
dn__reported *dn__progress_get(dn__progress *progress, const dn__region *region,
                               size_t slot_index);

/* Moves to the next table. Calls `look` for each slot whose count does not continue there;
 * `has_all` means that it will not do so later either. `look` may be NULL. */
void dn__progress_move(dn__progress *progress, const dn__region *from, const dn__region *to,
                       bool has_all, void (*look)(void *context, size_t slot_index),
                       void *context);
