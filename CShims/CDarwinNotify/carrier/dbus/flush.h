/* Waits until the bus has read what was sent. */
#pragma once

#include <stdint.h>

#include "carrier/carrier.h"

/* The carrier's `flush` and `linger`. */
int dn__dbus_flush(dn__carrier *carrier, uint64_t deadline_us);
void dn__dbus_linger(dn__carrier *carrier);
