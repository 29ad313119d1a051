/* Another user of a carrier's connection: the requests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

typedef struct dn__guest dn__guest;

/* All run on the thread of the carrier's loop. A function that runs under the carrier's lock calls
 * no code outside the library. */
typedef struct dn__guest_ops {
        /* The bus has said hello. Under the lock. */
        void (*connected)(dn__guest *guest);
        /* The connection is lost and about to be closed. Under the lock. */
        void (*disconnected)(dn__guest *guest);
        /* Returns when to call `dispatch` at the latest; 0: at once. Under the lock. */
        uint64_t (*get_until)(dn__guest *guest);
        /* Does the work that is due. Calls without need are allowed. */
        void (*dispatch)(dn__guest *guest);
        /* Handles a message that is no post. Returns false if nobody expects it. */
        bool (*handle)(dn__guest *guest, sd_bus_message *message);
} dn__guest_ops;

/* Embedded in the guest. */
struct dn__guest {
        const dn__guest_ops *ops;
};
