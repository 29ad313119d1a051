/* The signal of a post as the bytes that go over the socket (docs/wire.md). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bus/name.h"
#include "darwinnotify/base.h"

/* Room for the longest name with the longest interface, and 160 bytes around them. */
#define DN__MARSHAL_BYTES (DN__WIRE_INTERFACE_BYTES + DN_NAME_MAX_BYTES + 1 + 160)

/* Writes the message, and returns how long it is. The serial is not 0. */
size_t dn__marshal_post(const char *name, size_t n_name_bytes, uint64_t generation,
                        uint64_t region, uint32_t serial, char ret_bytes[DN__MARSHAL_BYTES]);
