/* Passes the posts of a name to its inboxes. */
#include "center/fanout.h"

#include <assert.h>

/* More posts than can occur between two checks of the table: a count that jumps further was
 * tampered with and must not wrap the sequence. */
#define MAX_POSTS UINT32_MAX

static void push(dn__topic *topic, uint64_t n_posts, dn__batch *batch) DN__HUB_LOCKED
{
        for (dn__link *link = topic->inboxes.next; link != &topic->inboxes; link = link->next)
                dn__inbox_push(DN__CONTAINER(link, dn__inbox, link), topic->sequence, n_posts,
                               batch);
        topic->sequence += n_posts;
}

uint64_t dn__fanout_uncounted(dn__topic *topic, dn__batch *batch)
{
        if (topic->counter)
                atomic_fetch_add(&topic->counter->n_uncounted, 1);
        push(topic, 1, batch);
        return 1;
}

uint64_t dn__fanout_counted(dn__topic *topic, uint64_t generation, dn__batch *batch)
{
        uint64_t counted, n_posts;

        assert(topic->slot);
        counted = dn__slot_get_generation(topic->slot);
        /* Neither the number in a signal nor the one in shared memory can be trusted: a signal
         * never reports more posts than were counted, and a count never decreases. */
        if (counted < topic->generation)
                topic->generation = counted ? counted - 1 : 0;
        if (generation > counted)
                generation = counted;
        if (generation <= topic->generation)
                return 0;
        n_posts = generation - topic->generation;
        push(topic, n_posts < MAX_POSTS ? n_posts : MAX_POSTS, batch);
        topic->generation = generation;
        return n_posts;
}

void dn__fanout_missed(dn__topic *topic, dn__batch *batch)
{
        if (topic->slot)
                (void)dn__fanout_counted(topic, UINT64_MAX, batch);
}
