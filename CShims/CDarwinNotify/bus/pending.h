/* Posts waiting for a bus that does not accept them yet. */
#pragma once

#include <stddef.h>

#include "post/post.h"
#include "util/list.h"
#include "util/map.h"

/* Limits of waiting queued posts: their number and their bytes. */
#define DN__PENDING_MAX_QUEUED 65536
#define DN__PENDING_MAX_QUEUED_BYTES (64 * 1024 * 1024)

/* Maximum number of distinct names that may wait. At 512 bytes each that is 8 MiB for a process
 * that posts to a hung bus; observers of further names find the posts by their generations at their
 * next check. */
#define DN__PENDING_MAX 16384

/* A queued post, or a name, which waits only once however often it is posted meanwhile. */
typedef struct dn__pending_post {
        dn__map_entry entry; /* of a name */
        dn__link link;
        dn__post post; /* for a name: its last or an uncounted post; a copy in `bytes` */
        size_t n_bytes;
        char bytes[];
} dn__pending_post;

/* First in, first out. Contains either queued posts or names, depending on the center. Protected by
 * its owner's lock. */
typedef struct dn__pending {
        dn__map by_name;
        dn__link order;
        size_t n_posts;
        size_t n_bytes;
} dn__pending;

void dn__pending_init(dn__pending *pending);
void dn__pending_deinit(dn__pending *pending);

/* Returns 0, -ENOMEM, or -ENOBUFS at the limit. */
int dn__pending_add(dn__pending *pending, const dn__post *post);

/* Returns the first post, borrowed until it is taken, or NULL. */
dn__pending_post *dn__pending_first(const dn__pending *pending);

/* Removes a post; free it after use. */
void dn__pending_take(dn__pending *pending, dn__pending_post *waiting);

/* Its user info may be large: call it without the lock. NULL is allowed. */
void dn__pending_post_free(dn__pending_post *waiting);
