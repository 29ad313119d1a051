/* Calls the observers of a queue in registration order. */
#pragma once

#include "delivery/queue.h"

/* The position of a delivery in the list of observers. The observer at the cursor stays linked, so
 * any observer may be removed while a handler runs. */
typedef struct dn__cursor {
        dn__post_queue *queue;
        dn_observer *at; /* NULL: before the first */
} dn__cursor;

/* Moves the cursor to the next live observer, and returns it; NULL at the end. Releases the lock
 * briefly if that ends the observer before. */
dn_observer *dn__cursor_next(dn__cursor *cursor) DN__HUB_LOCKED;

/* Invokes the observer that a delivery is positioned on. Releases the lock meanwhile. */
void dn__delivery_invoke(dn_observer *observer, const dn_event *event) DN__HUB_LOCKED;

/* Returns how many invocations of an observer the caller is inside of. */
unsigned dn__delivery_count_own(const dn_observer *observer);

/* Releases the lock, then asks executors to run the queues that have got posts. Callbacks may run.
 * Call without any other lock held. */
void dn__hub_unlock_and_run(dn__hub *hub) DN__RELEASES(&dn__hub_guard);
