/* A first-in, first-out queue of work, used by the library's executors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "darwinnotify/executor.h"

typedef struct dn__work {
        dn_work_fn run;
        void *argument;
} dn__work;

/* A growing ring buffer. All zero: an empty queue. Not locked: protected by its owner's lock. */
typedef struct dn__queue {
        dn__work *ring;
        size_t n_slots; /* a power of two, or 0 */
        size_t head;    /* always increases; the slot is head % n_slots */
        size_t n_items;
} dn__queue;

void dn__queue_deinit(dn__queue *queue);

/* Returns 0 or -ENOMEM. */
int dn__queue_push(dn__queue *queue, dn__work work);

/* Returns false when the queue is empty. */
bool dn__queue_pop(dn__queue *queue, dn__work *ret_work);
