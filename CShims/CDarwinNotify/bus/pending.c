/* Posts waiting for a bus that does not accept them yet. */
#include "bus/pending.h"

#include <errno.h>
#include <stdlib.h>

#include "post/dict.h"

void dn__pending_init(dn__pending *pending)
{
        *pending = (dn__pending){ 0 };
        dn__list_init(&pending->order);
}

void dn__pending_deinit(dn__pending *pending)
{
        dn__pending_post *waiting;

        while ((waiting = dn__pending_first(pending))) {
                dn__pending_take(pending, waiting);
                dn__pending_post_free(waiting);
        }
        dn__map_deinit(&pending->by_name);
}

/* Returns how much a post counts for the limit. */
static size_t weigh(const dn__post *post)
{
        return sizeof(dn__pending_post) + dn__post_count_bytes(post) +
               dn__dict_get_bytes(post->body.user_info);
}

static dn__pending_post *pending_post_new(const dn__post *post)
{
        dn__pending_post *waiting = malloc(sizeof(*waiting) + dn__post_count_bytes(post));

        if (!waiting)
                return NULL;
        *waiting = (dn__pending_post){ .n_bytes = weigh(post) };
        waiting->post = dn__post_copy(post, waiting->bytes);
        waiting->entry = (dn__map_entry){ NULL, post->name.hash, waiting->bytes,
                                          post->name.n_bytes };
        return waiting;
}

void dn__pending_post_free(dn__pending_post *waiting)
{
        if (!waiting)
                return;
        dn__post_release(&waiting->post);
        free(waiting);
}

/* Merges the post with a waiting one of its name. Returns whether there was one. */
static bool merge(const dn__pending *pending, const dn__post *post)
{
        dn__map_entry *entry = dn__map_find(&pending->by_name, post->name.hash, post->name.text,
                                            post->name.n_bytes);
        dn__post *waiting;

        if (!entry || post->is_queued)
                return false;
        waiting = &DN__CONTAINER(entry, dn__pending_post, entry)->post;
        /* A post that the same table has not counted must also reach observers that already have
         * the counted ones. */
        if (!post->generation || post->region_id != waiting->region_id)
                waiting->generation = 0;
        else if (waiting->generation && post->generation > waiting->generation)
                waiting->generation = post->generation;
        return true;
}

static bool is_full(const dn__pending *pending, const dn__post *post)
{
        return post->is_queued ? pending->n_posts >= DN__PENDING_MAX_QUEUED ||
                                         pending->n_bytes + weigh(post) >
                                                 DN__PENDING_MAX_QUEUED_BYTES
                               : pending->n_posts >= DN__PENDING_MAX;
}

int dn__pending_add(dn__pending *pending, const dn__post *post)
{
        dn__pending_post *waiting;

        if (merge(pending, post))
                return 0;
        if (is_full(pending, post))
                return -ENOBUFS;
        waiting = pending_post_new(post);
        if (!waiting)
                return -ENOMEM;
        if (!post->is_queued && dn__map_add(&pending->by_name, &waiting->entry) < 0) {
                dn__pending_post_free(waiting);
                return -ENOMEM;
        }
        dn__list_append(&pending->order, &waiting->link);
        pending->n_posts++;
        pending->n_bytes += waiting->n_bytes;
        return 0;
}

dn__pending_post *dn__pending_first(const dn__pending *pending)
{
        return DN__LIST_FIRST(dn__pending_post, &pending->order, link);
}

void dn__pending_take(dn__pending *pending, dn__pending_post *waiting)
{
        if (!waiting->post.is_queued)
                dn__map_remove(&pending->by_name, &waiting->entry);
        dn__list_remove(&waiting->link);
        pending->n_posts--;
        pending->n_bytes -= waiting->n_bytes;
}
