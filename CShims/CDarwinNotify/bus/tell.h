/* Reports what happens to the connection, if DARWIN_NOTIFY_DEBUG asks for it. */
#pragma once

#include "bus/state.h"

/* Notes why the connection was lost, or none was made; after the counts have changed. */
void dn__dbus_note_failure(dn__dbus *dbus, int reason) DN__REQUIRES(&dbus->lock);

/* Reports what has changed since the last call. On the loop's thread, without the lock. */
void dn__dbus_tell(dn__dbus *dbus);
