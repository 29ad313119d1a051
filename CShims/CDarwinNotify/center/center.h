/* Functions that the files of the centers share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "delivery/hub.h"

/* Opens a center of a kind on a bus. Returns as dn_center_open(). */
int dn__center_open(const dn__center_ops *ops, const char *bus, dn_center **ret_center);

/* Returns 0, or -EINVAL or -E2BIG for an object that the center cannot pass on. Not NULL. */
int dn__center_check_object(const dn_center *center, const void *object);

/* Posts a validated name. Returns as dn_center_post(). */
int dn__center_post(dn_center *center, dn__post *post);

/* Posts a validated name that leaves the process to the processes that share the table of a Darwin
 * center, without a signal. */
void dn__darwin_post_in_table(dn__hub *hub, dn__post *post);

/* --- Centers that use a bus (bus.c) ---------------------------------------------------------- */

/* The `open` and the `close` of their operations. */
int dn__bus_open(dn__hub *hub);
void dn__bus_close(dn__hub *hub);

/* Functions of a sink whose context is the hub. */
void dn__bus_connection_changed(void *hub);
void dn__bus_carrier_closed(void *hub);

/* Returns whether there was ever a connection. */
static inline bool dn__bus_was_found(const dn__hub *hub)
{
        return dn__carrier_get_status(hub->bus).n_connects > 0;
}

/* --- What the Darwin center has on its bus (on-bus.c) ---------------------------------------- */

/* Adds the carrier over the bus, if there is an address, and the calls that share its connection;
 * may consume the address. Returns 0 or -ENOMEM. */
int dn__bus_add(dn__hub *hub, struct dn__address *address, const dn__sink *sink);

/* Returns whether there are calls, services or unanswered requests. */
bool dn__bus_has_calls(dn__hub *hub);

/* Cancels the calls in progress, and closes the services. */
void dn__bus_cancel_calls(dn__hub *hub);

/* Call when the carrier has been freed and there are no calls. */
void dn__bus_free_calls(dn__hub *hub);

/* --- The end (close.c) ------------------------------------------------------------------------ */

/* Schedules the cleanup for exit(). Idempotent. */
void dn__flush_at_exit(void);

/* Cancels calls in progress, and all observers except those of tokens. */
void dn__centers_cancel_observers(void);

/* Returns whether there are neither observers nor deliveries, calls nor services. */
bool dn__centers_are_idle(void);

/* Sends what waits for the bus, until a deadline, and closes the centers, whose threads then end.
 * Each center starts afresh at its next use. While they are idle and no call is running. */
void dn__centers_close(uint64_t deadline_us, dn__link *ret_hubs);

/* Frees what the closed centers had, when their threads have ended. */
void dn__centers_free(dn__link *hubs);
