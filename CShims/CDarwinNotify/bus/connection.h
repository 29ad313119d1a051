/* One connection to a bus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "bus/address.h"
#include "util/fork.h"

/* The bus itself; its interface has the same name. */
#define DN__BUS_NAME "org.freedesktop.DBus"
#define DN__BUS_PATH "/org/freedesktop/DBus"

/* sd-bus is for one thread at a time: the owner has a lock that is held during every call here,
 * and while a message is read, unless only one thread knows that message. All zero is closed. */
typedef struct dn__connection {
        sd_bus *bus;
        char *unique_name;  /* set once the bus has said hello */
        bool is_broken;     /* what had to be sent could not be: to begin anew is the way out */
        bool takes_whole;   /* its socket takes a message of ours whole, or not at all */
        uint32_t n_written; /* messages that were written past sd-bus */
        dn__fork_guard *fork_guard;
} dn__connection;

/* A post as it came from the bus. Borrowed from its message. */
typedef struct dn__signal {
        const char *name; /* checked; not one that stays in its process */
        size_t n_name_bytes;
        uint64_t generation; /* 0: not counted by its poster */
        uint64_t region;     /* 0: its poster has no table */
        const char *sender;  /* its connection, as the bus says */
        bool is_own;         /* sent by this connection */
} dn__signal;

/* Starts to connect; dn__connection_step() goes on with it. Returns 0 or a negative errno. */
int dn__connection_open(dn__connection *connection, const dn__address *address);

/* Drops what was not sent. Closed already: nothing happens. */
void dn__connection_close(dn__connection *connection);

static inline bool dn__connection_is_open(const dn__connection *connection)
{
        return connection->bus != NULL;
}

/* Tells whether the bus has said hello. */
static inline bool dn__connection_is_ready(const dn__connection *connection)
{
        return connection->unique_name != NULL;
}

/* Reads, writes or dispatches one message, without waiting. Returns 1 if there may be more to do
 * at once, 0 if not, or a negative errno when the connection is lost. `ret_message` is NULL or
 * owned. */
int dn__connection_step(dn__connection *connection, sd_bus_message **ret_message);

/* What to wait for: a descriptor, poll() events, a point in time in CLOCK_MONOTONIC microseconds.
 * All three may change with every call of this module. */
int dn__connection_get_wait(dn__connection *connection, int *ret_fd, short *ret_events,
                            uint64_t *ret_until_us);

/* Tells whether a message would be written to the socket now: nothing is queued before it. */
bool dn__connection_can_send(dn__connection *connection);

/* Tells whether the bus has read all that was written. */
bool dn__connection_is_read(dn__connection *connection);

/* Sends one signal: body `stt` (docs/wire.md). Returns 0 or a negative errno. */
int dn__connection_send_post(dn__connection *connection, const char *name, size_t n_name_bytes,
                             uint64_t generation, uint64_t region);

/* Reads a message. Returns false if it is no post, or one that does not fit. */
bool dn__connection_read_post(const dn__connection *connection, sd_bus_message *message,
                              dn__signal *ret_signal);

/* Answers a method call, which nobody has a reason to make, so that the caller need not wait. */
void dn__connection_refuse_call(sd_bus_message *message);

/* Calls a method of the bus that takes one string. The answer goes to `handler`, on the thread that
 * steps; dropping the slot makes it not be called. Returns 0 or a negative errno: then the
 * connection is broken. */
int dn__connection_ask(dn__connection *connection, const char *method, const char *argument,
                       sd_bus_message_handler_t handler, void *context, sd_bus_slot **ret_slot);

/* Asks the bus for the signals of an interface, as above; NULL: of all. */
int dn__connection_add_match(dn__connection *connection, const char *interface,
                             sd_bus_message_handler_t handler, void *context,
                             sd_bus_slot **ret_slot);

/* Asks the bus for the user of a connection, as above; the answer has a `u`. */
int dn__connection_ask_user(dn__connection *connection, const char *sender,
                            sd_bus_message_handler_t handler, void *context,
                            sd_bus_slot **ret_slot);

/* Takes a match back, without asking for an answer. */
void dn__connection_remove_match(dn__connection *connection, const char *interface);
