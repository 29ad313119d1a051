/* Tracks who owns names on the bus, for the observers of each. */
#pragma once

#include "post/name.h"

typedef struct dn__calls dn__calls;

/* A name whose owner is tracked. */
typedef struct dn__owner dn__owner;

/* --- For the center -------------------------------------------------------------------------- */

/* Tracks the owner of a name that a process can own. Its states are handed to a topic, as payloads
 * whose object is the name of the owner's connection, or "" if there is no owner; NULL while there
 * is no bus. Each state differs from the one before, unless it is reported again. Call once the
 * connection has been tried. Returns 0 or -ENOMEM. */
int dn__owner_track(dn__calls *calls, const char *name, const dn__name *topic,
                    dn__owner **ret_owner);

/* Delivers the present state of a name once more, if it is tracked, as soon as it is known: call
 * after adding an observer. */
void dn__owners_report(dn__calls *calls, const char *name);

/* Ends the use that dn__owner_track() began. NULL is allowed. */
void dn__owner_release(dn__owner *owner);

/* --- For the client of the connection, under its lock except the last ------------------------- */

void dn__owners_init(dn__calls *calls);

void dn__owners_connected(dn__calls *calls);
void dn__owners_disconnected(dn__calls *calls);

/* Notes that there is no connection, if connecting has been tried. */
void dn__owners_expect_nothing(dn__calls *calls);

/* Notes that the bus has given a name to a connection; "": to nobody. */
void dn__owners_note(dn__calls *calls, const char *name, const char *connection);

/* Returns when states are to be delivered: 0 is now. */
uint64_t dn__owners_get_until(const dn__calls *calls);

/* Delivers the states. On the service thread, without the lock. */
void dn__owners_hand_on(dn__calls *calls);
