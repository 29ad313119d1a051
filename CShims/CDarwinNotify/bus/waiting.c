/* Posts waiting until their senders are known.
 *
 * Posts behind a waiting one wait too, to preserve their order. */
#include "bus/waiting.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "util/clock.h"

static uint64_t wall_clock_us(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_sec * DN__US_PER_SECOND + (uint64_t)now.tv_nsec / 1000;
}

void dn__waiting_init(dn__waiting *waiting)
{
        *waiting = (dn__waiting){ 0 };
        dn__list_init(&waiting->posts);
}

void dn__waiting_deinit(dn__waiting *waiting)
{
        dn__waiting_post *first;

        while ((first = dn__waiting_first(waiting))) {
                dn__waiting_take(waiting, first);
                dn__waiting_post_free(first);
        }
}

int dn__waiting_add(dn__waiting *waiting, const dn__post *post, dn__peer *peer)
{
        dn__waiting_post *added = calloc(1, sizeof(*added) + dn__post_count_bytes(post));

        if (!added)
                return -ENOMEM;
        added->time_us = wall_clock_us();
        added->post = dn__post_copy(post, added->bytes);
        added->peer = peer;
        if (peer) {
                dn__list_append(&peer->posts, &added->peer_link);
                peer->n_posts++;
        }
        dn__list_append(&waiting->posts, &added->link);
        waiting->n_posts++;
        return 0;
}

dn__waiting_post *dn__waiting_first(const dn__waiting *waiting)
{
        return dn__list_is_empty(&waiting->posts)
                       ? NULL
                       : DN__CONTAINER(waiting->posts.next, dn__waiting_post, link);
}

void dn__waiting_take(dn__waiting *waiting, dn__waiting_post *taken)
{
        assert(waiting->n_posts > 0 && dn__link_is_linked(&taken->link));
        dn__list_remove(&taken->link);
        waiting->n_posts--;
}

void dn__waiting_post_free(dn__waiting_post *taken)
{
        dn__peer *peer = taken->peer;

        if (peer) {
                dn__list_remove(&taken->peer_link);
                peer->n_posts--;
                dn__peer_free_unused(peer);
        }
        dn__post_release(&taken->post);
        free(taken);
}

uint64_t dn__waiting_get_until(const dn__waiting *waiting)
{
        const dn__waiting_post *first = dn__waiting_first(waiting);

        if (!first)
                return DN__NEVER;
        return first->peer && first->peer->call ? first->peer->until_us : 0;
}
