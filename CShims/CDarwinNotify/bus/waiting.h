/* Posts waiting until their senders are known. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bus/peers.h"
#include "post/post.h"
#include "util/list.h"

typedef struct dn__waiting_post {
        dn__link link;
        dn__link peer_link;
        dn__peer *peer;   /* NULL: the sender need not be known */
        uint64_t time_us; /* CLOCK_REALTIME time of arrival */
        dn__post post;    /* its strings point into `bytes` */
        char bytes[];
} dn__waiting_post;

/* In order of arrival, whether a post itself waits for an answer or is behind one that does.
 * Protected by its owner's lock. */
typedef struct dn__waiting {
        dn__link posts;
        size_t n_posts;
} dn__waiting;

void dn__waiting_init(dn__waiting *waiting);
void dn__waiting_deinit(dn__waiting *waiting);

/* Appends a copy of a post. Returns 0 or -ENOMEM. */
int dn__waiting_add(dn__waiting *waiting, const dn__post *post, dn__peer *peer);

/* Returns the first post, borrowed until it is removed, or NULL. */
dn__waiting_post *dn__waiting_first(const dn__waiting *waiting);

/* Removes a post; free it after use. */
void dn__waiting_take(dn__waiting *waiting, dn__waiting_post *taken);
void dn__waiting_post_free(dn__waiting_post *taken);

/* Returns until when the first post waits: 0 if it need not wait any longer, DN__NEVER if there is
 * none. */
uint64_t dn__waiting_get_until(const dn__waiting *waiting);
