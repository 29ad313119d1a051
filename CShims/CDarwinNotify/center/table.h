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

/* Returns whether posts reach all processes that share the table. True if nobody has made a table;
 * false if this process may lack one that others have. */
bool dn__table_is_enough(const dn__hub *hub);

/* Completes the registration of a name. `has_slot`: else it gets one as soon as possible. */
void dn__table_attend(dn__hub *hub, bool has_slot);

/* Takes a slot for a topic in its hub's table; when it has got one, its observers are notified
 * again, once the hub's lock is released by dn__hub_unlock_and_run(). Takes the lock. Returns false
 * if the topic needs a slot and has none. */
bool dn__table_take_slot(dn__topic *topic, uint64_t deadline_us);

/* Returns when to try again what has failed; DN__NEVER: nothing has. */
uint64_t dn__table_get_retry_us(const dn__hub *hub);

/* --- When to look (look.c) ------------------------------------------------------------------- */

/* Prepares a hub whose carriers exist. Returns 0 or -ENOMEM. */
int dn__table_begin(dn__hub *hub, const char *scope);

/* Looks, unless the last look was less than 5 seconds ago and the hub has what it needs: a table
 * and, with `wants_entry`, an entry in a table that is not stale. */
void dn__table_look_if_due(dn__hub *hub, bool wants_entry);

/* Looks, on the service thread, because a signal came from another table; at most every 100 ms,
 * since it may be the table of another user. */
void dn__table_look_soon(dn__hub *hub);
