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

/* Ends an observer that the caller has marked cancelled: destroys its handler, unlinks and releases
 * it. Call without any lock held. NULL is allowed. */
void dn__delivery_end(dn_observer *cancelled);

/* Returns how many of an observer's pins belong to handler functions that the caller is running. */
unsigned dn__delivery_count_own(const dn_observer *observer);

/* Releases the lock, then asks executors to run the queues that have got posts, and frees what was
 * dropped. Callbacks may run. Call without any other lock held. */
void dn__hub_unlock_and_run(dn__hub *hub) DN__RELEASES(&dn__hub_guard);
