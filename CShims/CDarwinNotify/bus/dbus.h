/* The carrier over D-Bus: a connection that sends each post as one signal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/address.h"
#include "post/sink.h"
#include "util/loop.h"

typedef struct dn__dbus dn__dbus;
typedef struct dn__rule dn__rule;
typedef struct dn__wire dn__wire;

/* How long posts may still wait when their carrier closes. */
#define DN__CLOSE_TIMEOUT_US UINT64_C(1000000)

/* Options of the carrier of a center. */
typedef struct dn__dbus_options {
        dn__address *address; /* borrowed; its contents are consumed on success */
        const dn__wire *wire; /* the center's signals */
        dn__loop *loop;       /* borrowed; polls */
        const dn__sink *sink;
        void *context; /* passed to the sink */
} dn__dbus_options;

extern const dn__wire dn__wire_darwin;
extern const dn__wire dn__wire_distributed;

/* Makes the carrier, a source of its loop. It does not connect until started. Returns 0 or
 * -ENOMEM. */
int dn__dbus_new(const dn__dbus_options *options, dn__dbus **ret_dbus);

/* These functions may be called on any thread until dn__dbus_close(); on the carrier's own thread
 * none of them waits. NULL stands for a center without a bus. A deadline covers all the waiting of
 * one public call and is 0 until the call first waits: most calls never wait and need not read the
 * clock. */

/* Connects, and waits for the outcome of the first attempt, success or not. Cheap once started.
 * Returns as dn__loop_start(). */
int dn__dbus_start(dn__dbus *dbus, uint64_t *deadline_us);

/* Sends a post, or queues it until it can be sent. Never blocks. Returns 0; DN_NOT_CONNECTED if it
 * is queued and there is no connection; -ENOBUFS or -ENOMEM if it is neither sent nor queued. Call
 * after dn__dbus_start(). */
int dn__dbus_send(dn__dbus *dbus, const dn__post *post);

/* Sets the table that the process is in. Call before the table's first post, and before its names
 * are held. Returns as dn__dbus_has_rules(). If it does not, the sink learns that posts may have
 * been missed when it does, or when there is another connection. */
bool dn__dbus_set_region(dn__dbus *dbus, uint64_t region_id);

/* Returns whether no rule waits for the answer of the bus. */
bool dn__dbus_has_rules(dn__dbus *dbus);

/* Adds the match rule of a name. `is_counted`: this process holds it in its table. Returns 0 or
 * -ENOMEM. */
int dn__dbus_add_rule(dn__dbus *dbus, const dn__name *name, bool is_counted, dn__rule **ret_rule);

/* Notes that the table counts a name now, or no longer. NULL is allowed. */
void dn__dbus_set_counted(dn__dbus *dbus, dn__rule *rule, bool is_counted);

/* Waits until the rule is active. Returns 0; DN_NOT_CONNECTED if it is not active yet but will be;
 * -ENOBUFS if it never will be. */
int dn__dbus_await_rule(dn__dbus *dbus, const dn__rule *rule, uint64_t *deadline_us);

void dn__dbus_remove_rule(dn__dbus *dbus, dn__rule *rule);

/* Under the carrier's lock: waits for any change; returns false at the deadline. */
bool dn__dbus_wait(dn__dbus *dbus, uint64_t *deadline_us);

dn__dbus_counts dn__dbus_get_counts(dn__dbus *dbus);

/* Returns whether there is a connection at the moment. */
bool dn__dbus_is_connected(dn__dbus *dbus);

/* Waits until the bus has read everything sent; with an expired deadline, sends what the socket
 * accepts and checks whether everything has left the process. Returns 0, -ETIMEDOUT or
 * -ENOTCONN. */
int dn__dbus_flush(dn__dbus *dbus, uint64_t deadline_us);

/* Returns why posts since the last call were lost: -ENOTCONN, -ENOBUFS or -ENOMEM, or 0. Call when
 * dn__dbus_flush() has left nothing to wait for. */
int dn__dbus_take_loss(dn__dbus *dbus);

/* Waits briefly, before the connection ends, while receivers may still ask the bus who sent a post
 * of a reserved name. */
void dn__dbus_remain_known(dn__dbus *dbus);

/* Sends the queued posts, for at most DN__CLOSE_TIMEOUT_US, then calls `closed`. Does not wait for
 * that. */
void dn__dbus_close(dn__dbus *dbus);

/* Frees a closed carrier whose loop has ended. */
void dn__dbus_free(dn__dbus *dbus);
