/* The observers of one name on one executor, and the posts waiting for them. */
#include "center/inbox.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dn__inbox_new(dn__topic *topic, dn__executor *executor, dn__inbox **ret_inbox)
{
        dn__inbox *inbox = calloc(1, sizeof(*inbox));

        if (!inbox)
                return -ENOMEM;
        atomic_init(&inbox->n_refs, 1);
        inbox->topic = topic;
        inbox->executor = dn__executor_ref(executor);
        dn__list_init(&inbox->observers);
        dn__topic_ref(topic);
        *ret_inbox = inbox;
        return 0;
}

void dn__inbox_ref(dn__inbox *inbox)
{
        atomic_fetch_add_explicit(&inbox->n_refs, 1, memory_order_relaxed);
}

void dn__inbox_unref(dn__inbox *inbox)
{
        if (atomic_fetch_sub_explicit(&inbox->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        (void)dn__executor_unref(inbox->executor);
        dn__topic_unref(inbox->topic);
        free(inbox);
}

dn__inbox *dn__inbox_find(const dn__topic *topic, const dn__executor *executor)
{
        for (dn__link *link = topic->inboxes.next; link != &topic->inboxes; link = link->next) {
                dn__inbox *inbox = DN__CONTAINER(link, dn__inbox, link);

                if (!executor || dn__executor_is_same(inbox->executor, executor))
                        return inbox;
        }
        return NULL;
}

/* --- Batches ------------------------------------------------------------------------------ */

static bool batch_grow(dn__batch *batch)
{
        size_t n_allocated = batch->n_allocated ? 2 * batch->n_allocated : 32;
        struct dn__batch_item *items = malloc(n_allocated * sizeof(*items));

        if (!items)
                return false;
        if (batch->n_items)
                memcpy(items, batch->items ? batch->items : batch->fixed,
                       batch->n_items * sizeof(*items));
        free(batch->items);
        batch->items = items;
        batch->n_allocated = n_allocated;
        return true;
}

static bool batch_add(dn__batch *batch, dn__inbox *inbox, unsigned n_works) DN__HUB_LOCKED
{
        size_t n_room = batch->items ? batch->n_allocated : sizeof(batch->fixed) /
                                                            sizeof(batch->fixed[0]);

        if (batch->n_items == n_room && !batch_grow(batch))
                return false;
        (batch->items ? batch->items : batch->fixed)[batch->n_items++] =
                (struct dn__batch_item){ inbox, n_works };
        inbox->topic->hub->n_works += n_works;
        for (unsigned i = 0; i < n_works; i++)
                dn__inbox_ref(inbox);
        return true;
}

/* --- Waiting posts ------------------------------------------------------------------------ */

void dn__inbox_push(dn__inbox *inbox, uint64_t before, uint64_t n_posts, dn__batch *batch)
{
        uint64_t n_room = DN__INBOX_MAX_WAITING - inbox->n_waiting;
        unsigned n_works = (unsigned)(n_posts < n_room ? n_posts : n_room), last;

        /* Without memory for the works, these posts are merged into later ones. */
        if (n_works && !batch_add(batch, inbox, n_works))
                n_works = 0;
        for (unsigned i = 0; i < n_works; i++) {
                last = (inbox->first_waiting + inbox->n_waiting++) % DN__INBOX_MAX_WAITING;
                inbox->waiting[last] = before + 1 + i;
        }
        if (n_works == n_posts || !inbox->n_waiting)
                return;
        last = (inbox->first_waiting + inbox->n_waiting - 1) % DN__INBOX_MAX_WAITING;
        inbox->waiting[last] = before + n_posts;
}

uint64_t dn__inbox_pop(dn__inbox *inbox)
{
        uint64_t sequence = inbox->waiting[inbox->first_waiting];

        assert(inbox->n_waiting > 0);
        inbox->first_waiting = (inbox->first_waiting + 1) % DN__INBOX_MAX_WAITING;
        inbox->n_waiting--;
        return sequence;
}
