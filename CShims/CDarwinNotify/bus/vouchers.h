/* Asking the bus which user has posted a name that is not for everybody. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/connection.h"
#include "util/list.h"

/* Posts that wait for an answer, and those behind them. More reserved names than that at a time
 * are a flood: what is above is ignored. */
#define DN__VOUCHERS_MAX_WAITING 1024

/* Senders that are remembered. Their names are never used again by a bus. */
#define DN__VOUCHERS_N_KNOWN 64

#define DN__VOUCHERS_SENDER_BYTES 64

typedef struct dn__voucher dn__voucher;

/* Guarded, like the connection, by the lock of its owner. */
typedef struct dn__vouchers {
        dn__connection *connection; /* borrowed */
        dn__link waiting;           /* in the order in which they came */
        size_t n_waiting;
        size_t n_known; /* ever; the oldest ones are forgotten */
        struct dn__vouchers_known {
                char sender[DN__VOUCHERS_SENDER_BYTES];
                uid_t uid;
        } known[DN__VOUCHERS_N_KNOWN];
} dn__vouchers;

/* A post that waits for its sender's user to be known. */
struct dn__voucher {
        dn__link link;
        dn__vouchers *vouchers;
        sd_bus_slot *call; /* the question; NULL: decided */
        bool is_refused;
        dn__signal signal; /* points behind this struct */
        char bytes[];
};

typedef enum dn__verdict {
        DN__VERDICT_GENUINE,
        DN__VERDICT_REFUSED,
        DN__VERDICT_WAITS, /* it was copied, and comes out of dn__vouchers_take() */
} dn__verdict;

void dn__vouchers_init(dn__vouchers *vouchers, dn__connection *connection);
void dn__vouchers_deinit(dn__vouchers *vouchers);

/* Decides whether a post is from somebody who may post its name. */
dn__verdict dn__vouchers_decide(dn__vouchers *vouchers, const dn__signal *signal);

/* Returns the first of those that waited, if it is decided, or NULL. Freed by the caller with
 * dn__voucher_free(). */
dn__voucher *dn__vouchers_take(dn__vouchers *vouchers);

void dn__voucher_free(dn__voucher *voucher);

/* Gives up the questions, before the connection is closed. */
void dn__vouchers_disconnected(dn__vouchers *vouchers);
