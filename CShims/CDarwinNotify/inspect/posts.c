/* The public functions that watch posts. */
#include "inspect/posts.h"

#include <errno.h>
#include <stdlib.h>

#include "inspect/watch.h"
#include "util/bundle.h"
#include "util/call.h"
#include "util/cleanup.h"
#include "util/process-list.h"

_Static_assert(DN__POST_WATCH_N_FDS == DN__BUNDLE_MAX_FDS, "a bundle takes what a watch waits for");

struct dn_watch {
        uint64_t fork_id; /* of the process that opened it */
        dn__link link;    /* in the list of watches */
        dn__post_watch *posts;
        dn__bundle bundle;
        int result; /* 0 while it goes on */
};

/* --- The list of watches ---------------------------------------------------------------------- */

static _Atomic(dn__per_process *) watches;

bool dn__watches_are_none(void)
{
        dn__process_list *list = dn__process_list_find(&watches);

        if (!list)
                return true;
        DN__HOLD(&list->lock);
        return dn__list_is_empty(&list->head);
}

void dn__watches_free(void)
{
        dn__process_list_free(&watches);
}

static int enlist_watch(dn_watch *watch)
{
        dn__process_list *list = dn__process_list_get(&watches);

        if (!list)
                return -ENOMEM;
        DN__HOLD(&list->lock);
        dn__list_append(&list->head, &watch->link);
        return 0;
}

static void delist_watch(dn_watch *watch)
{
        dn__process_list *list = dn__process_list_find(&watches);

        DN__HOLD(&list->lock);
        dn__list_remove(&watch->link);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static int open_posts(const char *bus, const char *prefix, const dn_watcher *watcher,
                      dn__post_watch **ret_posts)
{
        dn__address address;
        int r;

        if (!watcher || !watcher->post || (bus && !*bus))
                return -EINVAL;
        r = dn__address_resolve(bus, &address);
        return r < 0 ? r : dn__post_watch_new(address, prefix ? prefix : "", watcher, ret_posts);
}

int dn_watch_posts(const char *bus, const char *prefix, const dn_watcher *watcher)
{
        DN__CALL();
        dn__post_watch *posts;
        int r;

        r = open_posts(bus, prefix, watcher, &posts);
        if (r < 0)
                return r;
        r = dn__post_watch_run(posts);
        (void)dn__post_watch_free(posts);
        return r;
}

static const struct pollfd nothing[DN__POST_WATCH_N_FDS] = {
        { .fd = -1 }, { .fd = -1 }, { .fd = -1 }
};

static int open_watch(dn__post_watch *posts, dn_watch **ret_watch)
{
        dn_watch *watch = calloc(1, sizeof(*watch));
        int r;

        if (!watch)
                return -ENOMEM;
        r = dn__bundle_init(&watch->bundle);
        if (r == 0 && enlist_watch(watch) < 0) {
                dn__bundle_deinit(&watch->bundle);
                r = -ENOMEM;
        }
        if (r < 0) {
                free(watch);
                return r;
        }
        watch->fork_id = dn__fork_id();
        watch->posts = posts;
        dn__bundle_set(&watch->bundle, nothing, 0);
        *ret_watch = watch;
        return 0;
}

int dn_watch_open(const char *bus, const char *prefix, const dn_watcher *watcher,
                  dn_watch **ret_watch)
{
        DN__CALL();
        dn__post_watch *posts;
        int r;

        if (!ret_watch)
                return -EINVAL;
        r = open_posts(bus, prefix, watcher, &posts);
        if (r < 0)
                return r;
        r = open_watch(posts, ret_watch);
        if (r < 0)
                (void)dn__post_watch_free(posts);
        return r;
}

/* --- In the host's loop ----------------------------------------------------------------------- */

static bool is_own(const dn_watch *watch)
{
        return watch && watch->fork_id == dn__fork_id();
}

int dn_watch_get_fd(dn_watch *watch)
{
        return watch ? watch->bundle.fd : -EINVAL;
}

static void set_bundle(dn_watch *watch)
{
        struct pollfd waits[DN__POST_WATCH_N_FDS];
        uint64_t until_us;

        dn__post_watch_get_wait(watch->posts, waits, &until_us);
        dn__bundle_set(&watch->bundle, waits, until_us);
}

/* What is closed while a forked child has a copy can no longer be removed from the bundle, which
 * would stay readable. So nothing is in it meanwhile. */
static int advance(dn_watch *watch)
{
        if (!dn__bundle_is_intact(&watch->bundle))
                return -ENOTCONN;
        dn__bundle_set(&watch->bundle, nothing, DN__NEVER);
        return dn__post_watch_advance(watch->posts);
}

int dn_watch_process(dn_watch *watch)
{
        DN__CALL();

        if (!is_own(watch))
                return -EINVAL;
        if (watch->result)
                return watch->result;
        watch->result = advance(watch);
        if (watch->result)
                dn__bundle_ring(&watch->bundle);
        else
                set_bundle(watch);
        return watch->result;
}

void dn_watch_stop(dn_watch *watch)
{
        DN__CALL();

        if (!is_own(watch))
                return;
        dn__post_watch_stop(watch->posts);
        dn__bundle_ring(&watch->bundle);
}

dn_watch *dn_watch_close(dn_watch *watch)
{
        DN__CALL();

        if (!is_own(watch))
                return NULL;
        delist_watch(watch);
        (void)dn__post_watch_free(watch->posts);
        dn__bundle_deinit(&watch->bundle);
        free(watch);
        return NULL;
}
