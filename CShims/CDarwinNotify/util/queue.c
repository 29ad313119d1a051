/* A first-in, first-out queue of work, used by the library's executors. */
#include "util/queue.h"

#include <errno.h>
#include <stdlib.h>

#define N_FIRST_SLOTS 32

void dn__queue_deinit(dn__queue *queue)
{
        free(queue->ring);
        *queue = (dn__queue){ 0 };
}

static int grow_ring(dn__queue *queue)
{
        size_t n_slots = queue->n_slots ? 2 * queue->n_slots : N_FIRST_SLOTS;
        dn__work *ring = malloc(n_slots * sizeof(*ring));

        if (!ring)
                return -ENOMEM;
        for (size_t i = 0; i < queue->n_items; i++)
                ring[i] = queue->ring[(queue->head + i) & (queue->n_slots - 1)];
        free(queue->ring);
        *queue = (dn__queue){ ring, n_slots, 0, queue->n_items };
        return 0;
}

int dn__queue_push(dn__queue *queue, dn__work work)
{
        int r;

        if (queue->n_items == queue->n_slots) {
                r = grow_ring(queue);
                if (r < 0)
                        return r;
        }
        queue->ring[(queue->head + queue->n_items++) & (queue->n_slots - 1)] = work;
        return 0;
}

bool dn__queue_pop(dn__queue *queue, dn__work *ret_work)
{
        if (!queue->n_items)
                return false;
        *ret_work = queue->ring[queue->head++ & (queue->n_slots - 1)];
        queue->n_items--;
        return true;
}
