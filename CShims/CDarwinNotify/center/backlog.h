/* The posts waiting for one observer that receives each separately. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "post/post.h"
#include "util/list.h"
#include "util/map.h"

/* Limits of an observer's waiting posts: their number and their bytes. Beyond either, the oldest
 * are dropped, and the next item reports how many. */
#define DN__BACKLOG_MAX_POSTS 65536
#define DN__BACKLOG_MAX_BYTES (64 * 1024 * 1024)

/* A post shared by all observers that it waits for. */
typedef struct dn__kept_post {
        _Atomic unsigned n_refs;
        dn__post post; /* a copy in `bytes` */
        size_t n_bytes;
        char bytes[];
} dn__kept_post;

/* Returns a copy with one reference, or NULL if out of memory. */
dn__kept_post *dn__kept_post_new(const dn__post *post);

/* NULL is allowed. */
void dn__kept_post_unref(dn__kept_post *kept);

typedef struct dn__backlog_item {
        dn__link link;
        dn__map_entry entry; /* by name and object, if it is the last held one of those */
        dn__kept_post *kept; /* owned */
        uint64_t arrival;    /* position in the order of the hub's posts */
        uint64_t n_posts;    /* how many posts it stands for */
        uint64_t n_dropped;  /* posts dropped before it */
} dn__backlog_item;

/* First in, first out. The first items are due: a work is enqueued for each. The others are held
 * until they become due. Protected by its owner's lock. */
typedef struct dn__backlog {
        dn__link items;
        dn__link *first_held; /* or the head of the list */
        dn__map held; /* the last item for each name and object */
        size_t n_items;
        size_t n_due;
        size_t n_bytes;
        uint64_t n_dropped; /* after the last item */

        int behavior;     /* constant: what to do while the center is suspended */
        size_t n_works;   /* enqueued but not started */
        size_t n_begun;   /* started, with their item not yet delivered */
        bool is_running;  /* true while a thread delivers: one at a time, whatever the executor
                           * does */
        char object[];    /* constant: the object that the observer selects, if any */
} dn__backlog;

/* Returns an empty backlog with a copy of `object`, which may be NULL; NULL if out of memory. */
dn__backlog *dn__backlog_new(int behavior, const char *object);

/* Drops all items. */
void dn__backlog_clear(dn__backlog *backlog);

/* NULL is allowed. */
void dn__backlog_free(dn__backlog *backlog);

/* Moves all items to another, empty backlog. Due items stay due. */
void dn__backlog_move(dn__backlog *from, dn__backlog *to);

/* Counts posts that were lost or not kept; reported with the next item. */
void dn__backlog_note_dropped(dn__backlog *backlog, uint64_t n_posts);

/* Appends a post, taking a reference to it, as held. If out of memory, it is counted as dropped. */
void dn__backlog_hold(dn__backlog *backlog, dn__kept_post *kept, uint64_t arrival);

/* As dn__backlog_hold(), but replaces an earlier held item with the same name and object, and then
 * also stands for its posts. */
void dn__backlog_coalesce(dn__backlog *backlog, dn__kept_post *kept, uint64_t arrival);

/* Makes the first held item due. There must be one. */
void dn__backlog_release(dn__backlog *backlog);

/* Removes and returns the first item if it is due, to be freed by the caller; otherwise NULL. */
dn__backlog_item *dn__backlog_take(dn__backlog *backlog);

/* NULL is allowed. */
void dn__backlog_item_free(dn__backlog_item *item);
