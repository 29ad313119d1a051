/* The bus as the rest of the library sees it: a connection that heals, driven by one thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
#include "darwinnotify/executor.h"
#include "util/clock.h"

typedef struct dn__service dn__service;
typedef struct dn__rule dn__rule;

/* All of them run on the service thread, and no lock of the service is held. */
typedef struct dn__service_ops {
        /* A post has come. Borrowed until it returns. */
        void (*received)(void *context, const dn__signal *signal);
        /* Posts may have been missed: the connection is new, or the bus had to queue so much that
         * it may have dropped some. */
        void (*may_have_missed)(void *context);
        /* The time of dn__service_wake_at() has come. */
        void (*woken)(void *context, uint64_t now_us);
        /* The very last call, after dn__service_close(): the thread is gone, or was never there. */
        void (*closed)(void *context);
} dn__service_ops;

typedef struct dn__service_counts {
        uint64_t n_sent;     /* signals handed to the bus */
        uint64_t n_waiting;  /* names whose posts wait for it */
        uint64_t n_received; /* posts that came from it */
        uint64_t n_ignored;  /* messages that came, but do not fit */
        uint64_t n_connects; /* how often it said hello */
} dn__service_counts;

/* Makes a service; neither a thread nor a connection is there before it is first used. Consumes
 * `address`, also on failure. Returns 0 or -ENOMEM. */
int dn__service_new(dn__address address, const dn__service_ops *ops, void *context,
                    dn__service **ret_service);

/* What posts wait for when their service closes. */
#define DN__CLOSE_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* Stops it, when what waits for the bus is sent, or after a second. Returns before `closed` is
 * called. */
void dn__service_close(dn__service *service);

/* Tells whether the caller is the service thread, where waiting for the bus means for ever. */
bool dn__service_is_current(const dn__service *service);

/* Returns until when a call that begins to wait now may wait for a bus that does not answer. */
uint64_t dn__service_deadline_us(void);

/* Starts the thread and waits for the outcome of the first attempt to connect. Returns 0 when
 * connected, -ENOTCONN, or -ENOMEM. The deadline is for all that a call waits for the bus, 0 before
 * it has waited: as a rule it never does, and need not know the time. */
int dn__service_ensure(dn__service *service, uint64_t *deadline_us);

/* Tells whether there ever was a connection: a bus that was there comes back by itself, and is sent
 * what waits for it. */
bool dn__service_was_connected(dn__service *service);

/* Sends a post, or has it wait for the bus; in a flood of posts that may be merged, for a moment.
 * Never blocks. Returns 0; -ENOTCONN: it waits, and there is no bus; -ENOBUFS or -ENOMEM: neither
 * sent nor waiting. */
int dn__service_post(dn__service *service, uint64_t hash, const char *name, size_t n_name_bytes,
                     uint64_t generation, uint64_t region, bool may_merge);

/* Has the posts of a name delivered. Returns 0 or -ENOMEM. */
int dn__service_add_rule(dn__service *service, const char *name, size_t n_name_bytes,
                         dn__rule **ret_rule);

/* Waits, but not on the service thread, until the bus delivers the posts of the name. Returns 0;
 * -ENOTCONN: it does not yet, but will; -ENOBUFS: it never will. The deadline is as above. */
int dn__service_await_rule(dn__service *service, const dn__rule *rule, uint64_t *deadline_us);

void dn__service_remove_rule(dn__service *service, dn__rule *rule);

/* Runs work on the service thread: the `enqueue` of an executor, whose context is the service. */
int dn__service_enqueue(void *service, dn_work_fn work, void *argument);

/* Has `woken` called at a point in time, or before if one is set already. */
void dn__service_wake_at(dn__service *service, uint64_t at_us);

/* Waits until nothing waits for the bus any more, and it has read what it was sent; a deadline that
 * has passed only asks for the first. Returns 0, -ETIMEDOUT or -ENOTCONN. */
int dn__service_flush(dn__service *service, uint64_t deadline_us);

/* Waits a moment, if a reserved name was sent just now, before the connection goes: receivers ask
 * the bus for its user. */
void dn__service_await_questions(dn__service *service);

dn__service_counts dn__service_get_counts(dn__service *service);
