/* Which processes are behind the connections of a bus. */
#pragma once

#include <stdint.h>

#include "bus/connection.h"
#include "util/map.h"

/* Connections that are remembered. Of those above that the bus is asked anew with each post. */
#define DN__SENDERS_MAX 4096

/* One connection. The bus never gives its name to another one. */
typedef struct dn__sender {
        dn__map_entry entry;
        unsigned n_refs;       /* of the map, and of each post that waits for the answer */
        sd_bus_slot *question; /* NULL: answered */
        uint64_t until_us;     /* how long to wait for the answer */
        int64_t pid;           /* 0: not known */
        char *program;         /* NULL: not known */
        char name[];
} dn__sender;

/* For one thread, as the connection is. */
typedef struct dn__senders {
        dn__connection *connection; /* borrowed */
        dn__map by_name;
} dn__senders;

void dn__senders_deinit(dn__senders *senders);

/* Has the bus tell of connections that come and go. The answer goes to `handler`. */
int dn__senders_watch(dn__senders *senders, sd_bus_message_handler_t handler, void *context,
                      sd_bus_slot **ret_slot);

/* Reads a message. If it tells of a new connection, the bus is asked for its process at once: that
 * may be gone when its post is read. */
void dn__senders_handle(dn__senders *senders, sd_bus_message *message);

/* Finds a connection, or asks the bus for it. Returns a reference for the caller; NULL: memory
 * cannot be had. */
dn__sender *dn__senders_get(dn__senders *senders, const char *name);

/* NULL is allowed. Returns NULL. */
dn__sender *dn__sender_unref(dn__sender *sender);
