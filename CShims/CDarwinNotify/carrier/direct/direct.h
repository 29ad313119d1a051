/* The carrier through the shared table: posts reach the processes that share it, without a bus. */
#pragma once

#include "carrier/carrier.h"
#include "shm/region.h"
#include "util/loop.h"

/* Makes the carrier. It has no table yet, and brings nothing. Its thread begins when a name is
 * watched. Returns 0 or -ENOMEM. */
int dn__direct_new(const dn__sink *sink, void *context, dn__carrier **ret_carrier);

/* Gives the carrier a table, or the next one. It is borrowed until the carrier is freed. When
 * others have left it, the sink is told that posts may have been missed. Any thread. */
void dn__direct_set_region(dn__carrier *carrier, dn__region *region);

/* Returns the loop whose thread delivers the posts, borrowed. */
dn__loop *dn__direct_get_loop(dn__carrier *carrier);
