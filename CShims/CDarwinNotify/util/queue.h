/* A first-in, first-out queue of work, used by the library's executors. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "darwinnotify/executor.h"
#include "util/host.h"
#include "util/lock.h"

#define DN__QUEUE_FIRST_SLOTS 32

typedef struct dn__queued_work {
        dn_work_fn run;
        void *argument;
} dn__queued_work;

/* A growing ring buffer. All zero: an empty queue. Not locked: protected by its owner's lock. */
typedef struct dn__queue {
        dn__queued_work *ring;
        size_t n_slots; /* a power of two, or 0 */
        size_t head;    /* always increases; the slot is head % n_slots */
        size_t n_items;
} dn__queue;

static inline void dn__queue_deinit(dn__queue *queue)
{
        free(queue->ring);
        *queue = (dn__queue){ 0 };
}

static inline int dn__queue_grow(dn__queue *queue)
{
        size_t n_slots = queue->n_slots ? 2 * queue->n_slots : DN__QUEUE_FIRST_SLOTS;
        dn__queued_work *ring = malloc(n_slots * sizeof(*ring));

        if (!ring)
                return -ENOMEM;
        for (size_t i = 0; i < queue->n_items; i++)
                ring[i] = queue->ring[(queue->head + i) & (queue->n_slots - 1)];
        free(queue->ring);
        *queue = (dn__queue){ ring, n_slots, 0, queue->n_items };
        return 0;
}

/* Returns 0 or -ENOMEM. */
static inline int dn__queue_push(dn__queue *queue, dn__queued_work work)
{
        int r = queue->n_items == queue->n_slots ? dn__queue_grow(queue) : 0;

        if (r == 0)
                queue->ring[(queue->head + queue->n_items++) & (queue->n_slots - 1)] = work;
        return r;
}

/* Runs the work queued so far, which may be the host's, without the lock. Work added by this work
 * must wait: otherwise a callback that posts the name it observes would starve everything else.
 * Returns how many ran. */
static inline size_t dn__queue_run(dn__queue *queue, dn__lock *lock) DN__REQUIRES(lock)
{
        size_t n = 0;

        for (size_t n_left = queue->n_items; n_left > 0 && queue->n_items > 0; n_left--, n++) {
                dn__queued_work work = queue->ring[queue->head++ & (queue->n_slots - 1)];

                queue->n_items--;
                dn__lock_release(lock);
                dn__host_call(work.run, work.argument);
                dn__lock_acquire(lock);
        }
        return n;
}
