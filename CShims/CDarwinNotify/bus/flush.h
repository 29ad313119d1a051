/* Waits until the bus has read what was sent. */
#pragma once

#include "bus/dbus.h"

/* NULL stands for a center without a bus. Any thread. */

/* Waits until the bus has read everything sent; with an expired deadline, sends what the socket
 * accepts and checks whether everything has left the process. Returns 0, -ETIMEDOUT or
 * -ENOTCONN. */
int dn__dbus_flush(dn__dbus *dbus, uint64_t deadline_us);

/* Returns why posts since the last call were lost: -ENOTCONN, -ENOBUFS or -ENOMEM, or 0. Call when
 * dn__dbus_flush() has left nothing to wait for. */
int dn__dbus_take_loss(dn__dbus *dbus);

/* Waits briefly, before the connection ends, while receivers may still ask the bus who sent a post
 * of a reserved name. */
void dn__dbus_remain_known(dn__dbus *dbus);
