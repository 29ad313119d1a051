/* One observer: a handler, and how far it has been told of the posts of its name. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/observer.h"
#include "util/list.h"

typedef struct dn__group dn__group;

/* All fields but the constant ones are guarded by the lock of the engine. */
struct dn_observer {
        _Atomic unsigned n_refs;
        unsigned n_pins;    /* deliveries that stand on it: it stays in its list as long */
        unsigned n_running; /* invocations */
        unsigned n_suspends; /* what it has not seen waits meanwhile */
        bool is_cancelled;
        uint64_t id;   /* registration order; constant */
        uint64_t seen; /* sequence of the last post it was told of */
        dn__link link; /* in the group, which then owns a reference */
        dn__group *group;   /* constant, owned */
        const void *object; /* constant */
        dn_handler handler; /* constant */
};

/* Returns an observer that is in no list yet, with one reference. Its handler is destroyed when
 * it leaves the list it will be in, not with its last reference. Returns 0 or -ENOMEM. */
int dn__observer_new(dn__group *group, const void *object, dn_handler handler,
                     dn_observer **ret_observer);

/* Runs the destroy hook of a handler: of an observer, or of one that never came to be. */
void dn__handler_destroy(dn_handler handler);

/* Holds deliveries back until as many calls of dn__observer_resume(), the last of which has all
 * that was posted meanwhile delivered as one. */
void dn__observer_suspend(dn_observer *observer);
void dn__observer_resume(dn_observer *observer);

/* Has one delivery made to this observer alone. */
void dn__observer_tell(dn_observer *observer);

/* Calls the handler. No lock may be held. */
void dn__observer_invoke(dn_observer *observer, const dn_event *event);
