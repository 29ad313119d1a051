/* The observers of one name on one executor, which get its posts in registration order. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "center/engine.h"
#include "center/executor.h"
#include "center/observer.h"
#include "util/list.h"

/* Posts that wait for a group one by one; what comes on top is merged into the last of them. As
 * many as the queue of a Mach port holds, where Apple's notifyd begins to merge. */
#define DN__GROUP_MAX_WAITING 16

/* Guarded by the lock of the engine, but for what is constant. */
struct dn__group {
        _Atomic unsigned n_refs; /* of each observer, and of each work that is enqueued */
        dn__topic *topic;        /* constant, owned */
        dn__executor *executor;  /* constant, owned; NULL: posts are delivered by their posters */
        dn__link link;           /* in the topic, while there are observers */
        dn__link observers;
        uint64_t waiting[DN__GROUP_MAX_WAITING]; /* a ring: the sequences of posts that wait */
        unsigned first_waiting;
        unsigned n_waiting;
        unsigned n_due;  /* works that have begun, but not delivered their post */
        bool is_running; /* on one thread at a time, whatever the executor does */
};

/* Where a delivery is in the list of observers. While it stands on one, that one stays linked, so
 * that anybody may be removed while a handler runs. */
typedef struct dn__cursor {
        dn__group *group;
        dn_observer *at; /* NULL: past the end */
} dn__cursor;

/* Works to be enqueued when the lock has been released. All zero is empty. */
typedef struct dn__batch {
        struct dn__batch_item {
                dn__group *group;
                unsigned n_works;
        } fixed[8], *items;
        size_t n_items;
        size_t n_allocated;
} dn__batch;

/* Returns a group with one reference. Returns 0 or -ENOMEM. */
int dn__group_new(dn__topic *topic, dn__executor *executor, dn__group **ret_group);

void dn__group_ref(dn__group *group);
void dn__group_unref(dn__group *group);

/* Makes `n_posts` posts after `before` wait for the group. */
void dn__group_push(dn__group *group, uint64_t before, uint64_t n_posts, dn__batch *batch);

/* Enqueues what was collected. No lock may be held. */
void dn__batch_run(dn__batch *batch);

/* What is left of an observer that was unlinked, to be disposed of without the lock. */
typedef struct dn__remains {
        dn_observer *observer; /* the list's reference, or NULL: nothing is left */
        dn__topic *topic;      /* to be retired, or NULL */
} dn__remains;

/* Links an observer behind a link of the list; the list takes a reference of its own. */
void dn__group_add(dn__group *group, dn_observer *observer, dn__link *behind);

/* Marks an observer cancelled, and unlinks it now or when the last delivery leaves it. Cancelled
 * already: nothing happens. */
void dn__group_remove(dn_observer *observer, dn__remains *remains);

/* Gives back, and empties, what is left. No lock may be held. */
void dn__remains_dispose(dn__remains *remains);

/* Puts the cursor on the first live observer. */
void dn__cursor_init(dn__cursor *cursor, dn__group *group);

/* Puts it on the next one. `remains` is empty before. */
void dn__cursor_advance(dn__cursor *cursor, dn__remains *remains);

/* Invokes the observer that a cursor stands on: releases the lock meanwhile. */
void dn__group_invoke(dn__engine *engine, dn_observer *observer, const dn_event *event);
