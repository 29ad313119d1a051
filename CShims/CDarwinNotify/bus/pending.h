/* The names whose posts wait for a bus that does not take them now. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"
#include "util/map.h"

/* Distinct names that may wait. At 512 bytes each that is 8 MiB for a process that posts to a bus
 * that hangs; observers of further names find the posts by their generations, when they next
 * look. */
#define DN__PENDING_MAX 16384

/* One name: however often it is posted while it waits, it waits once. */
typedef struct dn__pending_post {
        dn__map_entry entry;
        dn__link link;
        uint64_t generation; /* of the last post; 0 if one of them is not counted */
        uint64_t region;
        char name[];
} dn__pending_post;

/* First come, first sent. Not locked: its owner has a lock. */
typedef struct dn__pending {
        dn__map posts;
        dn__link order;
} dn__pending;

void dn__pending_init(dn__pending *pending);
void dn__pending_deinit(dn__pending *pending);

/* Returns 0, -ENOMEM, or -ENOBUFS when DN__PENDING_MAX other names wait. */
int dn__pending_add(dn__pending *pending, uint64_t hash, const char *name, size_t n_name_bytes,
                    uint64_t generation, uint64_t region);

static inline bool dn__pending_is_empty(const dn__pending *pending)
{
        return dn__list_is_empty(&pending->order);
}

/* Returns the first, borrowed until it is taken, or NULL. */
dn__pending_post *dn__pending_first(const dn__pending *pending);

/* Takes a post out and frees it. */
void dn__pending_take(dn__pending *pending, dn__pending_post *post);
