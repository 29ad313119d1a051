/* Waits until the bus has read what was sent. */
#pragma once

#include <stdint.h>

#include "carrier/carrier.h"
#include "carrier/dbus/state.h"

/* The carrier's `flush`, `take_untaken` and `linger`. */
int dn__dbus_flush(dn__carrier *carrier, uint64_t deadline_us);
int dn__dbus_take_untaken(dn__carrier *carrier);
void dn__dbus_linger(dn__carrier *carrier);

/* Notes, while there is a connection, whether the bus has read all posts that were written. Returns
 * whether it has. */
bool dn__dbus_note_read(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Notes, at the end of a connection, that no bus has taken what was still unread. */
void dn__dbus_note_unread(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);
