/* A connection to a bus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "bus/wire.h"
#include "post/address.h"
#include "util/fork.h"
#include "util/loop.h"

/* The bus itself; its interface has the same name. */
#define DN__BUS_NAME "org.freedesktop.DBus"
#define DN__BUS_PATH "/org/freedesktop/DBus"

/* The total time that a call waits for a bus that does not answer. */
#define DN__CONNECTION_TIMEOUT_US UINT64_C(900000)

/* For this connection, and those that other threads open at the same time. */
#define DN__CONNECTION_MAX_PIDFDS 4

/* sd-bus is single-threaded: the owner's lock is held during every call here and while a message is
 * read or filled, unless only one thread knows that message. It is held when any message is made or
 * released, since that counts references to the bus. All zero except `wire`: closed. */
typedef struct dn__connection {
        const dn__wire *wire; /* constant */
        sd_bus *bus;
        char *unique_name; /* set when the bus says hello */
        bool is_broken;    /* a message could not be sent: only reconnecting helps */
        bool was_unread;   /* the bus has closed it without reading everything */
        bool takes_whole;  /* the socket accepts a short write whole or not at all */
        dn__fork_guard *fork_guard;
        dn__fork_guard *pidfd_guards[DN__CONNECTION_MAX_PIDFDS]; /* see pidfd.h; NULL: none */
} dn__connection;

/* Starts to connect; dn__connection_step() continues. Returns 0 or a negative errno. */
int dn__connection_open(dn__connection *connection, const dn__address *address);

/* Discards what was not sent. Does nothing if already closed. */
void dn__connection_close(dn__connection *connection);

static inline bool dn__connection_is_open(const dn__connection *connection)
{
        return connection->bus != NULL;
}

/* Returns whether the bus has said hello. */
static inline bool dn__connection_is_ready(const dn__connection *connection)
{
        return connection->unique_name != NULL;
}

/* Returns whether, as far as is known, the bus will read what is written from now on. */
static inline bool dn__connection_is_usable(const dn__connection *connection)
{
        return dn__connection_is_ready(connection) && !connection->is_broken;
}

/* Returns whether a sender is this connection. */
bool dn__connection_is_own(const dn__connection *connection, const char *sender);

/* Reads, writes or dispatches one message without waiting. Returns 1 if there may be more to do
 * immediately, 0 if not, or a negative errno if the connection is lost. `ret_message` is NULL or
 * owned. */
int dn__connection_step(dn__connection *connection, sd_bus_message **ret_message);

/* Returns 0 or -ENOTCONN. What to wait for is valid until the next call of this module. */
int dn__connection_get_wait(dn__connection *connection, dn__wait *ret_wait);

/* Returns whether the descriptor is still the connection's. The host may have closed it; a file
 * that has taken its number must be neither read from nor closed. */
static inline bool dn__connection_is_intact(const dn__connection *connection)
{
        return dn__fork_guard_is_intact(connection->fork_guard);
}

/* Returns whether a message would be written to the socket now, with nothing queued before it. */
bool dn__connection_can_send(dn__connection *connection);

/* Returns whether the bus has read everything written. A bus that ends without having done so
 * leaves an error in the socket, which the next use of the socket clears: ask before that, and see
 * `was_unread`. */
bool dn__connection_is_read(dn__connection *connection);

/* Writes whole messages directly, bypassing sd-bus, which must have nothing to write. Returns
 * false if the socket is full or the connection broken. */
bool dn__connection_write(dn__connection *connection, const char *bytes, size_t n_bytes);

/* Sends a message through sd-bus. With `ret_serial`, an answer is expected; it comes as a message.
 * Returns 0 or a negative errno; then the connection is broken. */
int dn__connection_send(dn__connection *connection, sd_bus_message *message,
                        uint64_t *ret_serial);

/* Answers a method call, which nobody has a reason to make, so that the caller does not wait. */
void dn__connection_refuse_call(sd_bus_message *message);

/* A call to a method of the bus that takes a string, then perhaps flags. The handler is called with
 * the answer, on the thread that calls dn__connection_step(). */
typedef struct dn__query {
        const char *method;
        const char *types; /* "s", "su", or "" */
        const char *argument;
        sd_bus_message_handler_t handler;
        void *context;
        uint32_t flags;
} dn__query;

/* Returns whether a message comes from the bus itself. sd-bus matches answers by their serial
 * alone, so a handler must check this: another process may have guessed the serial. */
bool dn__connection_is_bus(sd_bus_message *message);

/* Returns whether a query was answered with an error, or not by the bus. */
bool dn__connection_is_refusal(sd_bus_message *answer);

/* Sends a query. Dropping the slot cancels the handler. Returns 0, or a negative errno if the
 * connection is broken. A caller that asks again on each connection may ignore it. */
int dn__connection_ask(dn__connection *connection, const dn__query *query,
                       sd_bus_slot **ret_slot);

/* Calls a method of the bus that takes one string, without requesting an answer. */
void dn__connection_tell(dn__connection *connection, const char *method, const char *argument);
