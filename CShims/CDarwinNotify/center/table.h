/* Keeps a hub in the table that the user's other processes find. */
#pragma once

#include "delivery/hub.h"
#include "delivery/topic.h"

/* Waits until the hub is not moving; it does not move again. Call before closing the carriers. */
void dn__table_end(dn__hub *hub);

/* Finds the right table and moves the hub there. `wants_entry`, before a name is held: makes the
 * table if there is none, and enters it; if that fails, it is tried again later. Any thread,
 * without any lock held; callbacks may run on their executors. */
void dn__table_look(dn__hub *hub, bool wants_entry);

/* Call when posts may have been missed. If the hub has moved and the bus has what it was asked for
 * since, notifies each observer again. */
void dn__table_confirm(dn__hub *hub);

/* Returns whether posts reach all processes that share the table. True if nobody has made a table;
 * false if this process may lack one that others have. */
bool dn__table_is_enough(const dn__hub *hub);

/* Completes the registration of a name. `has_slot`: else it gets one as soon as possible. */
void dn__table_attend(dn__hub *hub, bool has_slot);

/* Sets the slot of a topic in its hub's table, perhaps NULL, and notifies its observers again. */
void dn__table_adopt(dn__topic *topic, dn__shm_slot *slot) DN__HUB_LOCKED;

/* Returns when to try again what has failed; DN__NEVER: nothing has. */
uint64_t dn__table_get_retry_us(const dn__hub *hub);

/* --- When to look (look.c) ------------------------------------------------------------------- */

/* Prepares a hub whose carriers exist. Returns 0 or -ENOMEM. */
int dn__table_begin(dn__hub *hub, const char *scope);

/* Calls dn__table_look(), unless the last look was less than 5 seconds ago and the hub has what it
 * needs: a table and, with `wants_entry`, an entry there and no mark that the table was left. */
void dn__table_look_if_due(dn__hub *hub, bool wants_entry);

/* Calls it, on the service thread, for each signal that came from another table, but not more often
 * than every 100 ms: it may be the table of another user. */
void dn__table_look_soon(dn__hub *hub);
