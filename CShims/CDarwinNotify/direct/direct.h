/* The carrier through the shared table: posts reach the processes that share it, without a bus. */
#pragma once

#include "post/carrier.h"
#include "table/region.h"
#include "util/loop.h"

/* Returns whether the kernel lets processes sleep on and ring words that they share: a sandbox may
 * refuse it. */
bool dn__direct_is_allowed(void);

typedef struct dn__direct_options {
        const dn__sink *sink;
        void *context; /* passed to the sink */
        const _Atomic(dn__region *) *table; /* the one that counts posts, or NULL; may change */
        /* Returns a loop that may also receive posts as long as all handlers run on it; or NULL. */
        dn__loop *(*get_shared_loop)(void);
} dn__direct_options;

/* Creates the carrier. It receives nothing until it has a region. Before that, `start` only starts
 * the thread, while a failure can still be reported. Returns 0 or -ENOMEM. */
int dn__direct_new(const dn__direct_options *options, dn__carrier **ret_carrier);

/* Gives the carrier a table in which this process has an entry, or the next one. It is borrowed
 * until the carrier is freed. When it becomes stale, the sink learns that posts may have been
 * missed. Any thread. */
void dn__direct_set_region(dn__carrier *carrier, dn__region *region);

/* Returns the loop of our own thread, borrowed. */
dn__loop *dn__direct_get_loop(dn__carrier *carrier);
