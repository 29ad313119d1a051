/* The D-Bus carrier as a loop source. */
#pragma once

#include "util/loop.h"

extern const dn__source_ops dn__dbus_source_ops;
