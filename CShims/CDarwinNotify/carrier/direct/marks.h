/* Takes the marks of this process in the order of the posts. */
#pragma once

#include <stddef.h>

#include "shm/region.h"

/* Takes the marks of this process and calls `look` for each marked slot that has a name, the one
 * posted longest ago first. Returns how many marks there were, those of other slots included. */
size_t dn__marks_take(const dn__region *region, void (*look)(void *context, size_t slot_index),
                    void *context);
