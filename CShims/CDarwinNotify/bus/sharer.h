/* Another user of a carrier's connection: the requests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

typedef struct dn__sharer dn__sharer;

/* All run on the thread of the carrier's loop. A function that runs under the carrier's lock calls
 * no code outside the library. */
typedef struct dn__sharer_ops {
        /* The bus has said hello. Under the lock. */
        void (*connected)(dn__sharer *sharer);
        /* The connection is lost and about to be closed. Under the lock. */
        void (*disconnected)(dn__sharer *sharer);
        /* Returns when to call `dispatch` at the latest; 0: at once. Under the lock. */
        uint64_t (*get_until)(dn__sharer *sharer);
        /* Does the work that is due. Calls without need are allowed. */
        void (*dispatch)(dn__sharer *sharer);
        /* Handles a message that is no post. Returns false if nobody expects it. */
        bool (*handle)(dn__sharer *sharer, sd_bus_message *message);
} dn__sharer_ops;

/* Embedded in the sharer. */
struct dn__sharer {
        const dn__sharer_ops *ops;
};
