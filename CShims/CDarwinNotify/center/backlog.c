/* The posts waiting for one observer that receives each separately. */
#include "center/backlog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "post/dict.h"
#include "util/hash.h"

/* --- Posts ---------------------------------------------------------------------------------- */

dn__kept_post *dn__kept_post_new(const dn__post *post)
{
        size_t n_bytes = dn__post_count_bytes(post);
        dn__kept_post *kept = malloc(sizeof(*kept) + n_bytes);

        if (!kept)
                return NULL;
        atomic_init(&kept->n_refs, 1);
        kept->n_bytes = sizeof(*kept) + n_bytes + dn__dict_get_bytes(post->body.user_info);
        kept->post = dn__post_copy(post, kept->bytes);
        return kept;
}

void dn__kept_post_unref(dn__kept_post *kept)
{
        if (!kept || atomic_fetch_sub_explicit(&kept->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        dn__post_release(&kept->post);
        free(kept);
}

void dn__backlog_item_free(dn__backlog_item *item)
{
        if (!item)
                return;
        dn__kept_post_unref(item->kept);
        free(item);
}

/* --- Items ---------------------------------------------------------------------------------- */

dn__backlog *dn__backlog_new(int behavior, const char *object)
{
        size_t n_bytes = object ? strlen(object) + 1 : 0;
        dn__backlog *backlog = calloc(1, sizeof(*backlog) + n_bytes);

        if (!backlog)
                return NULL;
        dn__list_init(&backlog->items);
        backlog->first_held = &backlog->items;
        backlog->behavior = behavior;
        if (object)
                memcpy(backlog->object, object, n_bytes);
        return backlog;
}

static dn__backlog_item *item_at(dn__link *link)
{
        return DN__CONTAINER(link, dn__backlog_item, link);
}

static void forget_held(dn__backlog *backlog, dn__backlog_item *item)
{
        if (!item->entry.key)
                return;
        dn__map_remove(&backlog->held, &item->entry);
        item->entry.key = NULL;
}

static void remove_item(dn__backlog *backlog, dn__backlog_item *item)
{
        forget_held(backlog, item);
        if (backlog->first_held == &item->link)
                backlog->first_held = item->link.next;
        dn__list_remove(&item->link);
        backlog->n_items--;
        backlog->n_bytes -= item->kept->n_bytes;
}

void dn__backlog_clear(dn__backlog *backlog)
{
        while (backlog->n_items > 0) {
                dn__backlog_item *first = item_at(backlog->items.next);

                remove_item(backlog, first);
                dn__backlog_item_free(first);
        }
        backlog->n_due = 0;
}

void dn__backlog_free(dn__backlog *backlog)
{
        if (!backlog)
                return;
        dn__backlog_clear(backlog);
        dn__map_deinit(&backlog->held);
        free(backlog);
}

void dn__backlog_move(dn__backlog *from, dn__backlog *to)
{
        dn__link *link = from->items.next, *next;

        for (; link != &from->items; link = next) {
                next = link->next;
                forget_held(from, item_at(link));
                dn__list_remove(link);
                dn__list_append(&to->items, link);
        }
        if (from->first_held != &from->items)
                to->first_held = from->first_held;
        from->first_held = &from->items;
        to->n_items = from->n_items;
        to->n_due = from->n_due;
        to->n_bytes = from->n_bytes;
        to->n_dropped = from->n_dropped;
        from->n_items = from->n_due = from->n_bytes = from->n_dropped = 0;
}

void dn__backlog_note_dropped(dn__backlog *backlog, uint64_t n_posts)
{
        backlog->n_dropped += n_posts;
}

/* The next item reports it. */
static void drop_first(dn__backlog *backlog)
{
        dn__backlog_item *first = item_at(backlog->items.next);
        uint64_t n_dropped = first->n_dropped + first->n_posts;

        remove_item(backlog, first);
        if (backlog->n_due > 0)
                backlog->n_due--;
        if (backlog->n_items > 0)
                item_at(backlog->items.next)->n_dropped += n_dropped;
        else
                dn__backlog_note_dropped(backlog, n_dropped);
        dn__backlog_item_free(first);
}

/* One post is kept, however large. */
static void make_room(dn__backlog *backlog, size_t n_bytes)
{
        while (backlog->n_items > 0 && (backlog->n_items >= DN__BACKLOG_MAX_POSTS ||
                                        backlog->n_bytes + n_bytes > DN__BACKLOG_MAX_BYTES))
                drop_first(backlog);
}

/* Returns NULL and counts the post as dropped if out of memory. */
static dn__backlog_item *append_item(dn__backlog *backlog, dn__kept_post *kept, uint64_t arrival)
{
        dn__backlog_item *item = calloc(1, sizeof(*item));

        if (!item) {
                dn__backlog_note_dropped(backlog, 1);
                return NULL;
        }
        make_room(backlog, kept->n_bytes);
        atomic_fetch_add_explicit(&kept->n_refs, 1, memory_order_relaxed);
        item->kept = kept;
        item->arrival = arrival;
        item->n_posts = 1 + kept->post.body.n_more;
        item->n_dropped = backlog->n_dropped;
        backlog->n_dropped = 0;
        dn__list_append(&backlog->items, &item->link);
        if (backlog->first_held == &backlog->items)
                backlog->first_held = &item->link;
        backlog->n_items++;
        backlog->n_bytes += kept->n_bytes;
        return item;
}

void dn__backlog_hold(dn__backlog *backlog, dn__kept_post *kept, uint64_t arrival)
{
        (void)append_item(backlog, kept, arrival);
}

/* Name and object, which are adjacent in a copy. */
static dn__map_entry key_of(const dn__kept_post *kept)
{
        const dn__post *post = &kept->post;
        size_t n_bytes = post->name.n_bytes + 1;

        if (post->body.object)
                n_bytes += strlen(post->body.object) + 1;
        return (dn__map_entry){ NULL, dn__hash64(kept->bytes, n_bytes), kept->bytes, n_bytes };
}

void dn__backlog_coalesce(dn__backlog *backlog, dn__kept_post *kept, uint64_t arrival)
{
        dn__map_entry key = key_of(kept), *entry;
        dn__backlog_item *earlier = NULL, *item;

        entry = dn__map_find(&backlog->held, key.hash, key.key, key.n_key_bytes);
        if (entry) {
                earlier = DN__CONTAINER(entry, dn__backlog_item, entry);
                remove_item(backlog, earlier);
        }
        item = append_item(backlog, kept, arrival);
        if (item && earlier) {
                item->n_posts += earlier->n_posts;
                item->n_dropped += earlier->n_dropped;
        } else if (earlier) {
                dn__backlog_note_dropped(backlog, earlier->n_posts + earlier->n_dropped);
        }
        dn__backlog_item_free(earlier);
        /* If out of memory, the next post does not find this item: then both are delivered. */
        if (item && (item->entry = key, dn__map_add(&backlog->held, &item->entry) < 0))
                item->entry.key = NULL;
}

void dn__backlog_release(dn__backlog *backlog)
{
        assert(backlog->first_held != &backlog->items);
        forget_held(backlog, item_at(backlog->first_held));
        backlog->first_held = backlog->first_held->next;
        backlog->n_due++;
}

dn__backlog_item *dn__backlog_take(dn__backlog *backlog)
{
        dn__backlog_item *first;

        if (backlog->n_due == 0)
                return NULL;
        first = item_at(backlog->items.next);
        remove_item(backlog, first);
        backlog->n_due--;
        return first;
}
