/* Takes the marks of this process in the order of the posts. */
#include "carrier/direct/marks.h"

#include <stdlib.h>

#include "carrier/direct/ring.h"

/* The number of names that are delivered in the order of their posts; more are not sorted. */
#define MAX_SORTED 256

/* Needed because others may post endlessly. */
#define MAX_LOOKS 4

typedef struct marked {
        uint64_t posted_ns;
        size_t slot_index;
} marked;

typedef struct collection {
        const dn__region *region;
        void (*look)(void *context, size_t slot_index);
        void *context;
        marked marked[MAX_SORTED];
        size_t n_marked;
        size_t n_taken;
} collection;

static int compare_times(const void *a, const void *b)
{
        const marked *first = a, *second = b;

        return (first->posted_ns > second->posted_ns) - (first->posted_ns < second->posted_ns);
}

static void look_at_all(collection *collection)
{
        if (collection->n_marked > 1)
                qsort(collection->marked, collection->n_marked, sizeof(collection->marked[0]),
                      compare_times);
        for (size_t i = 0; i < collection->n_marked; i++)
                collection->look(collection->context, collection->marked[i].slot_index);
        collection->n_marked = 0;
}

static void add(void *context, size_t slot_index)
{
        collection *collection = context;
        const dn__shm_table *table = collection->region->table;

        collection->n_taken++;
        /* Without a tag there may be no memory behind the slot. */
        if (atomic_load(&table->tags[slot_index]) == 0)
                return;
        if (collection->n_marked == MAX_SORTED)
                look_at_all(collection);
        collection->marked[collection->n_marked++] =
                (marked){ atomic_load_explicit(&table->slots[slot_index].posted_ns,
                                               memory_order_relaxed),
                          slot_index };
}

size_t dn__marks_take(const dn__region *region, void (*look)(void *context, size_t slot_index),
                      void *context)
{
        collection collection;

        collection.region = region;
        collection.look = look;
        collection.context = context;
        collection.n_marked = 0;
        collection.n_taken = 0;
        /* A walk over the marks may find one that was set after one it has already passed. So it is
         * repeated until there are no more. */
        for (int i = 0; i < MAX_LOOKS; i++) {
                size_t n_before = collection.n_marked;

                dn__ring_take(region, add, &collection);
                if (collection.n_marked == n_before)
                        break;
        }
        look_at_all(&collection);
        return collection.n_taken;
}
