/* The names whose posts wait for a bus that does not take them now. */
#include "bus/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void dn__pending_init(dn__pending *pending)
{
        *pending = (dn__pending){ 0 };
        dn__list_init(&pending->order);
}

void dn__pending_deinit(dn__pending *pending)
{
        dn__pending_post *post;

        while ((post = dn__pending_first(pending)))
                dn__pending_take(pending, post);
        dn__map_deinit(&pending->posts);
}

static int add_new(dn__pending *pending, uint64_t hash, const char *name, size_t n_name_bytes,
                   dn__pending_post **ret_post)
{
        dn__pending_post *post;

        if (pending->posts.n_entries >= DN__PENDING_MAX)
                return -ENOBUFS;
        post = calloc(1, sizeof(*post) + n_name_bytes + 1);
        if (!post)
                return -ENOMEM;
        memcpy(post->name, name, n_name_bytes);
        post->entry = (dn__map_entry){ NULL, hash, post->name, n_name_bytes };
        if (dn__map_add(&pending->posts, &post->entry) < 0) {
                free(post);
                return -ENOMEM;
        }
        dn__list_append(&pending->order, &post->link);
        *ret_post = post;
        return 0;
}

int dn__pending_add(dn__pending *pending, uint64_t hash, const char *name, size_t n_name_bytes,
                    uint64_t generation, uint64_t region)
{
        dn__map_entry *entry = dn__map_find(&pending->posts, hash, name, n_name_bytes);
        dn__pending_post *post;
        int r;

        if (entry) {
                post = DN__CONTAINER(entry, dn__pending_post, entry);
                /* One that is not counted must reach those who have the counted ones already. */
                if (post->generation && (generation > post->generation || !generation))
                        post->generation = generation;
                return 0;
        }
        r = add_new(pending, hash, name, n_name_bytes, &post);
        if (r < 0)
                return r;
        post->generation = generation;
        post->region = region;
        return 0;
}

dn__pending_post *dn__pending_first(const dn__pending *pending)
{
        if (dn__list_is_empty(&pending->order))
                return NULL;
        return DN__CONTAINER(pending->order.next, dn__pending_post, link);
}

void dn__pending_take(dn__pending *pending, dn__pending_post *post)
{
        dn__map_remove(&pending->posts, &post->entry);
        dn__list_remove(&post->link);
        free(post);
}
