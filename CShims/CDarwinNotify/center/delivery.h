/* Calls the observers of an inbox in registration order. */
#pragma once

#include "center/inbox.h"
#include "center/observer.h"

/* The position of a delivery in the list of observers. The observer at the cursor stays linked, so
 * any observer may be removed while a handler runs. */
typedef struct dn__cursor {
        dn__inbox *inbox;
        dn_observer *at; /* NULL: past the end */
} dn__cursor;

/* Moves the cursor to the first live observer. */
void dn__cursor_init(dn__cursor *cursor, dn__inbox *inbox) DN__HUB_LOCKED;

/* Moves the cursor to the next observer. Releases the lock briefly if that ends the previous
 * one. */
void dn__cursor_advance(dn__cursor *cursor) DN__HUB_LOCKED;

/* Invokes the observer that a delivery is positioned on. Releases the lock meanwhile. */
void dn__delivery_invoke(dn_observer *observer, const dn_event *event) DN__HUB_LOCKED;

/* Ends a delivery that is positioned on an observer: it was one of its pins. Releases the lock
 * briefly if that ends the observer. */
void dn__delivery_leave(dn_observer *left) DN__HUB_LOCKED;

/* Returns how many invocations of an observer the caller is inside of. */
unsigned dn__delivery_count_own(const dn_observer *observer);

/* Delivers what waits in the inboxes of a batch. Call without any lock held. */
void dn__batch_run(dn__batch *batch);
