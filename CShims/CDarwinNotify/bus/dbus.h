/* The carrier over D-Bus: a connection that sends each post as one signal. */
#pragma once

#include "post/address.h"
#include "post/carrier.h"
#include "util/loop.h"

typedef struct dn__wire dn__wire;

/* Options of the carrier of a center. */
typedef struct dn__dbus_options {
        dn__address *address; /* borrowed; has an address; consumed on success */
        const dn__wire *wire; /* the center's signals */
        dn__loop *loop;       /* borrowed; polls */
        const dn__sink *sink;
        void *context; /* passed to the sink */
} dn__dbus_options;

extern const dn__wire dn__wire_darwin;
extern const dn__wire dn__wire_distributed;

/* Makes the carrier, a source of its loop. It does not connect until started. Returns 0 or
 * -ENOMEM. */
int dn__dbus_new(const dn__dbus_options *options, dn__carrier **ret_carrier);
