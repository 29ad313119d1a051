/* The second user of a carrier's connection: the requests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

typedef struct dn__bus_client dn__bus_client;

/* All run on the thread of the carrier's loop. A function that runs under the carrier's lock calls
 * no code outside the library. */
typedef struct dn__bus_client_ops {
        /* The bus has said hello. Under the lock. */
        void (*connected)(dn__bus_client *client);
        /* The connection is lost and about to be closed. Under the lock. */
        void (*disconnected)(dn__bus_client *client);
        /* Returns when to call `dispatch` at the latest; 0: at once. Under the lock. */
        uint64_t (*get_until)(dn__bus_client *client);
        /* Does the work that is due. Calls without need are allowed. */
        void (*dispatch)(dn__bus_client *client);
        /* Handles a message that is not a post. Returns false if nobody expects it. */
        bool (*handle)(dn__bus_client *client, sd_bus_message *message);
} dn__bus_client_ops;

/* Embedded in the client. */
struct dn__bus_client {
        const dn__bus_client_ops *ops;
};
