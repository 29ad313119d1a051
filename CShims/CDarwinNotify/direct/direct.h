/* The carrier through the shared table: posts reach the processes that share it, without a bus. */
#pragma once

#include "post/sink.h"
#include "table/region.h"
#include "util/loop.h"

typedef struct dn__direct dn__direct;

/* Returns whether the kernel lets processes sleep on and ring words that they share: a sandbox may
 * refuse it. */
bool dn__direct_is_allowed(void);

/* Makes the carrier. It has no table yet, and brings nothing. Returns 0 or -ENOMEM. */
int dn__direct_new(const dn__sink *sink, void *context, dn__direct **ret_direct);

/* Starts to bring posts: on the thread of `host`, or on our own thread if `host` is NULL or has a
 * guest, or if somebody needs that thread. Before there is a table only the thread starts, since a
 * failure can be reported now. Idempotent. Returns 0, -ENOMEM or -EAGAIN. */
int dn__direct_start(dn__direct *direct, dn__loop *host);

/* Brings posts on a thread of our own from now on. Idempotent. Returns as dn__direct_start(). */
int dn__direct_use_own_thread(dn__direct *direct);

/* Gives the carrier a table in which this process has an entry, or the next one. It is borrowed
 * until the carrier is freed. When it is marked as left, the sink learns that posts may have been
 * missed. Any thread. */
void dn__direct_set_region(dn__direct *direct, dn__region *region);

/* Returns the loop of our own thread, borrowed. */
dn__loop *dn__direct_get_loop(const dn__direct *direct);

/* Ends bringing posts, then calls `closed`. Does not wait for that. */
void dn__direct_close(dn__direct *direct);

/* Frees a closed carrier whose loop has ended. NULL is allowed. */
void dn__direct_free(dn__direct *direct);
