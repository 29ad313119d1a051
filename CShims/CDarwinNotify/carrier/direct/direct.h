/* The carrier through the shared table: posts reach the processes that share it, without a bus. */
#pragma once

#include "carrier/carrier.h"
#include "shm/region.h"
#include "util/loop.h"

/* Makes the carrier. `region` is borrowed, until the carrier is freed; NULL: there is no table, and
 * nothing is brought. Its thread begins when a name is watched. Returns 0 or -ENOMEM. */
int dn__direct_new(dn__region *region, const dn__sink *sink, void *context,
                   dn__carrier **ret_carrier);

/* Returns the loop whose thread brings the posts, borrowed. */
dn__loop *dn__direct_get_loop(dn__carrier *carrier);
