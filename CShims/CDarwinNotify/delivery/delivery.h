/* Calls the observers of a queue in registration order. */
#pragma once

#include "delivery/queue.h"

/* The position of a delivery in the list of observers. The observer at the cursor stays linked, so
 * any observer may be removed while a handler runs. */
typedef struct dn__cursor {
        dn__post_queue *queue;
        dn_observer *at; /* NULL: past the end */
} dn__cursor;

/* Moves the cursor to the first live observer. */
void dn__cursor_init(dn__cursor *cursor, dn__post_queue *queue) DN__HUB_LOCKED;

/* Moves the cursor to the next observer. Releases the lock briefly if that ends the previous
 * one. */
void dn__cursor_advance(dn__cursor *cursor) DN__HUB_LOCKED;

/* Invokes the observer that a delivery is positioned on. Releases the lock meanwhile. */
void dn__delivery_invoke(dn_observer *observer, const dn_event *event) DN__HUB_LOCKED;

/* Returns how many invocations of an observer the caller is inside of. */
unsigned dn__delivery_count_own(const dn_observer *observer);

/* Releases the lock, then asks executors to run the queues that have got posts. Callbacks may run.
 * Call without any other lock held. */
void dn__hub_unlock_and_run(dn__hub *hub) DN__RELEASES(&dn__hub_guard);
