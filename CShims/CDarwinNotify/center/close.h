/* Ends all centers of a process: before it exits, or so that nothing of them remains. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

/* Schedules the cleanup for exit(). Idempotent. */
void dn__flush_at_exit(void);

/* Cancels all observers, and calls in progress. */
void dn__centers_cancel_observers(void);

/* Returns whether there are neither observers nor deliveries, calls nor services. */
bool dn__centers_are_idle(void);

/* Sends what waits for the bus, until a deadline, and closes the centers, whose threads then end.
 * Each center starts afresh at its next use. While they are idle and no call is running. */
void dn__centers_close(uint64_t deadline_us, dn__link *ret_hubs);

/* Frees what the closed centers had, when their threads have ended. */
void dn__centers_free(dn__link *hubs);
