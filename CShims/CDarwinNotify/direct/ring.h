/* Rings processes through the shared table: a post marks its name for each holder, then wakes
 * it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "table/region.h"

/* Rings all other processes that hold the name of a slot or follow the table. Call after counting
 * the post. */
void dn__ring_holders(const dn__region *region, const dn__shm_slot *slot);

/* Marks the posts of every name for this process from now on, or no more. */
void dn__ring_follow(const dn__region *region);
void dn__ring_unfollow(const dn__region *region);

/* Rings every process that ever used the table, for events other than posts. */
void dn__ring_all(const dn__region *region);

/* Returns whether names may be marked for this process. */
bool dn__ring_is_marked(const dn__region *region);

/* Takes the marks of this process and calls `found` for each marked slot that has a name, oldest
 * post first. Other processes may damage the marks: a mark without a post does no harm. */
void dn__ring_take(const dn__region *region, void (*found)(void *context, size_t slot_index),
                   void *context);
