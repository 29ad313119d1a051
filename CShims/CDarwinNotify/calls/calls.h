/* The requests of a process on one bus, in both directions, as the center sees them. */
#pragma once

#include <stdbool.h>

#include "delivery/hub.h"

typedef struct dn__calls dn__calls;

/* Creates the state of the requests on a hub's connection. Calls and services keep the center open.
 * Returns 0 or -ENOMEM. */
int dn__calls_new(dn__hub *hub, dn__calls **ret_calls);

/* Call when the carrier has been freed and nothing is in progress. NULL is allowed. */
void dn__calls_free(dn__calls *calls);

/* Cancels the calls in progress, and closes the services for their owners, who may still do so. */
void dn__calls_cancel(dn__calls *calls);

/* Returns whether every call has ended and been released, every service is closed, and every
 * request is answered. */
bool dn__calls_are_idle(dn__calls *calls);
