/* Sends posts to the bus, immediately or when it accepts them. */
#pragma once

#include <stdbool.h>

#include "bus/state.h"

/* As dn__dbus_send(). */
int dn__dbus_send_post(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock);

/* Writes the posts that have gathered, if the socket accepts them. Returns whether there are none
 * any more. */
bool dn__dbus_write(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Notes, in a turn of the loop, that the socket may accept posts again and that a flood may be
 * over. */
void dn__dbus_look_at_socket(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Sends some of the posts that wait. Returns false if the rest must keep waiting or there is
 * none. */
bool dn__dbus_send_pending(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Returns whether dn__dbus_send_pending() has work to do. */
bool dn__dbus_has_to_send(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Forgets the remembered post once it has been written. */
void dn__dbus_note_written(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Queues what was not written again after the connection was lost. */
void dn__dbus_take_back(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Returns whether nothing waits for the bus. */
bool dn__dbus_is_drained(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Returns whether there is a bus, as a caller sees it: 0 or DN_NOT_CONNECTED. */
int dn__dbus_report(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Notes whether the bus has read everything sent, and returns it. Before the socket is used: see
 * dn__connection_is_read(). */
bool dn__dbus_note_read(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Notes that the connection is lost: what the bus had not read is lost with it. */
void dn__dbus_note_unread(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);
