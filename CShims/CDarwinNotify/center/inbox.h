/* The observers of one name on one executor, and the posts waiting for them. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "center/executor.h"
#include "center/topic.h"
#include "util/list.h"

/* Maximum number of individually waiting posts in an inbox; further ones are merged into the last.
 * Equals the queue length of a Mach port, at which Apple's notifyd starts to merge. */
#define DN__INBOX_MAX_WAITING 16

typedef struct dn__inbox {
        _Atomic unsigned n_refs; /* held by each observer and each enqueued work */
        dn__topic *topic;        /* constant, owned */
        dn__executor *executor;  /* constant, owned; NULL: posters deliver posts themselves */
        dn__link link DN__HUB_GUARDED;      /* in the topic, while the inbox has observers */
        dn__link observers DN__HUB_GUARDED; /* in registration order */
        uint64_t waiting[DN__INBOX_MAX_WAITING] DN__HUB_GUARDED; /* a ring buffer of sequences */
        unsigned first_waiting DN__HUB_GUARDED;
        unsigned n_waiting DN__HUB_GUARDED;
        unsigned n_due DN__HUB_GUARDED;  /* works started whose post is not yet delivered */
        bool is_running DN__HUB_GUARDED; /* a thread is delivering: one at a time */
} dn__inbox;

/* Works to enqueue once the lock is released. All zero: empty. */
typedef struct dn__batch {
        struct dn__batch_item {
                dn__inbox *inbox;
                unsigned n_works;
        } fixed[8], *items;
        size_t n_items;
        size_t n_allocated;
} dn__batch;

/* Creates an inbox with one reference, not yet in any topic. Returns 0 or -ENOMEM. */
int dn__inbox_new(dn__topic *topic, dn__executor *executor, dn__inbox **ret_inbox) DN__HUB_LOCKED;

void dn__inbox_ref(dn__inbox *inbox);
void dn__inbox_unref(dn__inbox *inbox);

/* Returns the inbox of an executor, which may be NULL, or NULL if there is none. */
dn__inbox *dn__inbox_find(const dn__topic *topic, const dn__executor *executor) DN__HUB_LOCKED;

/* Queues the `n_posts` posts after `before`; dn__batch_run() delivers them. */
void dn__inbox_push(dn__inbox *inbox, uint64_t before, uint64_t n_posts, dn__batch *batch)
        DN__HUB_LOCKED;

/* Removes the first post, which must exist, and returns its sequence. */
uint64_t dn__inbox_pop(dn__inbox *inbox) DN__HUB_LOCKED;
