/* Carries the names of a table that is being left to the next one. */
#pragma once

#include "shm/region.h"

/* Marks the table `from` as left for `to`, then gives each name that a living process holds there,
 * or that was posted lately, a slot in `to`, unless another process has done all that. Names
 * without room are left out. `is_behind`: this process has posted in `from` since others left it.
 * Returns false if they had left it for another table. */
bool dn__carry(dn__region *from, dn__region *to, bool is_behind);
