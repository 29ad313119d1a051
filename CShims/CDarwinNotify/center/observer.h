/* An observer: a handler, and which posts of its name it has been given. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "center/backlog.h"
#include "center/inbox.h"
#include "darwinnotify/observer.h"
#include "util/list.h"

struct dn_observer {
        _Atomic unsigned n_refs;
        uint64_t id;        /* registration order; constant */
        dn__inbox *inbox;   /* constant, owned */
        const void *object; /* constant; if text, points into the backlog */
        dn_handler handler; /* constant */

        unsigned n_pins DN__HUB_GUARDED; /* deliveries positioned on it, which keep it linked */
        unsigned n_running DN__HUB_GUARDED;  /* invocations in progress */
        unsigned n_suspends DN__HUB_GUARDED; /* while above 0, what it has not seen waits */
        bool is_cancelled DN__HUB_GUARDED;
        dn__backlog *backlog; /* owned; NULL: it receives the posts of its inbox */
        uint64_t seen DN__HUB_GUARDED; /* sequence of the last post given to it */
        dn__link link DN__HUB_GUARDED; /* in the inbox, which owns a reference while linked */
};

/* What remains of an unlinked observer, to be disposed of without the lock. All zero: nothing. */
typedef struct dn__unlinked {
        dn_observer *observer; /* the list's reference, or NULL */
        dn__topic *topic;      /* to be retired, or NULL */
} dn__unlinked;

/* Creates an observer with one reference, not yet in any list. Its handler is destroyed when it
 * leaves its list, not with its last reference. Returns 0 or -ENOMEM. */
int dn__observer_new(dn__inbox *inbox, const void *object, dn_handler handler,
                     dn_observer **ret_observer);

/* Orders pointers to observers by their registration, for qsort(). */
int dn__observer_compare(const void *left, const void *right);

/* Runs the destroy hook of a handler, whether or not an observer was made from it. */
void dn__handler_destroy(dn_handler handler);

/* Links an observer after a link of the list, which takes its own reference. */
void dn__observer_link(dn_observer *observer, dn__link *behind) DN__HUB_LOCKED;

/* Unlinks an observer that no delivery is positioned on. */
void dn__observer_unlink(dn_observer *observer, dn__unlinked *ret_unlinked) DN__HUB_LOCKED;

/* Marks an observer cancelled and unlinks it now, or when the last delivery leaves it. Does nothing
 * if already cancelled. */
void dn__observer_mark_cancelled(dn_observer *observer, dn__unlinked *ret_unlinked)
        DN__HUB_LOCKED;

/* Releases and empties what remains. Call without any lock held. */
void dn__unlinked_dispose(dn__unlinked *unlinked);
