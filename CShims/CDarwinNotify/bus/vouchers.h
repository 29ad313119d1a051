/* Asking the bus which user has posted a name that is not for everybody. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
#include "util/list.h"
#include "util/map.h"

/* Guarded, like the connection, by the lock of its owner. */
typedef struct dn__vouchers {
        dn__connection *connection; /* borrowed */
        dn__link waiting;           /* posts, in the order in which they came */
        size_t n_waiting;
        dn__map senders;
        dn__link by_age; /* the senders, the oldest first */
} dn__vouchers;

typedef enum dn__verdict {
        DN__VERDICT_GENUINE,
        DN__VERDICT_REFUSED,
        DN__VERDICT_GONE, /* nobody can tell any more who it was */
        DN__VERDICT_WAITS,
} dn__verdict;

/* A post that waits for its sender's user to be known, or behind one that does. */
typedef struct dn__voucher {
        dn__link link;
        dn__link sender_link;
        struct dn__voucher_sender *sender; /* NULL: it need not be asked for */
        dn__verdict verdict;               /* set when it is taken */
        dn__signal signal;                 /* points behind this struct */
        char bytes[];
} dn__voucher;

void dn__vouchers_init(dn__vouchers *vouchers, dn__connection *connection);
void dn__vouchers_deinit(dn__vouchers *vouchers);

/* Decides whether a post is from somebody who may post its name. One that waits was copied, and
 * comes out of dn__vouchers_take(). */
dn__verdict dn__vouchers_decide(dn__vouchers *vouchers, const dn__signal *signal);

/* Returns the first of those that waited, if it is decided, or NULL. Freed by the caller. */
dn__voucher *dn__vouchers_take(dn__vouchers *vouchers, uint64_t now_us);

void dn__voucher_free(dn__voucher *voucher);

/* Returns until when dn__vouchers_take() may have nothing to return, or DN__NEVER. */
uint64_t dn__vouchers_get_until(const dn__vouchers *vouchers);

/* Forgets the senders, before the connection is closed. */
void dn__vouchers_disconnected(dn__vouchers *vouchers);
