/* Keeps a hub in the table that the other processes of its scope find. */
#pragma once

#include "center/hub.h"

/* Opens the table of a scope for a hub whose carriers exist. What fails is tried again later.
 * Returns 0 or -ENOMEM. */
int dn__table_begin(dn__hub *hub, const char *scope);

/* Returns when nothing of the following happens any more. Call before the carriers are closed. */
void dn__table_end(dn__hub *hub);

/* Moves the hub to the next table if others cannot find this one any more, and tries again what has
 * failed, at most as often as that is worth while. Any thread, without any lock held; callbacks may
 * run on their executors. */
void dn__table_check(dn__hub *hub);

/* As dn__table_check(), if somebody has another table. `id` is its region, 0 if there is none. */
void dn__table_check_foreign(dn__hub *hub, uint64_t id);

/* As dn__table_check(), once a name is held. `has_slot`: else it gets one as soon as possible. */
void dn__table_attend(dn__hub *hub, bool has_slot);

/* Returns the current table if it is another one than `left`, which others have left; NULL if this
 * process could not follow them. */
dn__region *dn__table_follow(dn__hub *hub, const dn__region *left);
