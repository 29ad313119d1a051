/* Posts written as messages, which the bus gets in one system call. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/wire.h"

/* About 64 posts: then the system call no longer costs much next to each of them. Small enough for
 * a Unix socket to accept whole or not at all. */
#define DN__OUTBOX_BYTES (16 * 1024)

/* Not locked: protected by its owner's lock. */
typedef struct dn__outbox {
        char *bytes;
        size_t n_bytes;
        unsigned n_posts;
        uint32_t n_added; /* so far, for the serials */
        bool has_reserved;
        bool is_blocked;   /* the socket is full: wait until it can be written to */
        uint64_t until_us; /* until when posts of a flood gather; 0: there is none */
} dn__outbox;

/* Returns 0 or -ENOMEM. */
int dn__outbox_init(dn__outbox *outbox);

void dn__outbox_deinit(dn__outbox *outbox);

/* Adds a post, which will have that path. Returns false if there is no room. */
bool dn__outbox_add(dn__outbox *outbox, const dn__wire *wire, const dn__post *post,
                    const char *path);

/* Forgets the posts, which were written. */
void dn__outbox_clear(dn__outbox *outbox);
