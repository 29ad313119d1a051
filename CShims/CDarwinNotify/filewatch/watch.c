/* Reports changes of a file, including changes along its path. */
#include "filewatch/watch.h"

#include <assert.h>
#include <errno.h>
#include <notify_private.h>
#include <stdlib.h>
#include <string.h>

#include "filewatch/watcher.h"
#include "util/cleanup.h"

/* How long until the next look at a file whose path cannot be watched because of limits. */
#define RETRY_US (1 * DN__US_PER_SECOND)

/* A path that changes at each look will change again and cause another event. */
#define MAX_ROUNDS 8

/* Consumes the route. The new way is added first, so that inotify keeps what is in both; on failure
 * the old one stays. The kernel has these inodes cached, so the lock is held only briefly. */
static int change_way(dn__file_watch *watch, dn__file_route *route, const dn__file_status *status)
{
        dn__files *files = watch->files;
        dn__file_way way;
        int r;

        DN__HOLD(&files->lock);
        r = dn__file_way_init(&way, &files->places, route, watch->path, status, watch);
        if (r < 0)
                return r;
        if (!watch->is_freed) {
                dn__file_way old = watch->way;

                watch->way = way;
                way = old;
        }
        dn__file_way_deinit(&way, &files->places);
        return 0;
}

static bool is_on_way(dn__file_watch *watch, const dn__file_route *route)
{
        DN__HOLD(&watch->files->lock);
        return watch->is_freed || dn__file_route_is_same(&watch->way.route, route);
}

/* Reads the status and listens along the path until nothing moves in between. Always sets the
 * status. Returns 0, or a negative errno if it could not listen to everything. */
static int listen_and_read(dn__file_watch *watch, dn__file_status *ret_status)
{
        dn__file_status before;
        dn__file_route route;
        bool is_settled = false;
        int r = 0;

        for (int i = 0; i < MAX_ROUNDS && !is_settled && r == 0; i++) {
                *ret_status = dn__file_status_read(watch->path);
                r = dn__file_route_init(&route, watch->path);
                if (r < 0)
                        return r;
                is_settled = i > 0 && dn__file_status_is_same_file(&before, ret_status) &&
                             is_on_way(watch, &route);
                before = *ret_status;
                if (is_settled)
                        dn__file_route_deinit(&route);
                else
                        r = change_way(watch, &route, &before);
        }
        return r;
}

static bool take_is_written(dn__file_watch *watch)
{
        bool is_written;

        DN__HOLD(&watch->files->lock);
        is_written = watch->is_written;
        watch->is_written = false;
        return is_written;
}

/* Returns whether the watch is still active. */
static bool after_look(dn__file_watch *watch, bool has_failed)
{
        DN__HOLD(&watch->files->lock);
        if (!watch->is_freed && has_failed)
                dn__files_look_later(watch->files, watch, RETRY_US);
        return !watch->is_freed;
}

static void watch_unref(dn__file_watch *watch)
{
        bool is_last;

        dn__lock_acquire(&watch->files->lock);
        assert(watch->n_refs > 0);
        is_last = --watch->n_refs == 0;
        dn__lock_release(&watch->files->lock);
        if (!is_last)
                return;
        free(watch->path);
        free(watch);
}

/* Runs on the watching thread, which holds a reference. */
static void look(dn__file_watch *watch)
{
        bool is_written = take_is_written(watch);
        dn__file_status before = watch->status;
        int r = listen_and_read(watch, &watch->status);
        unsigned bits = dn__file_status_compare(&before, &watch->status, is_written);

        if (after_look(watch, r < 0) && bits & watch->flags)
                watch->changed(watch->token);
        watch_unref(watch);
}

static void free_watch(dn__file_watch **watch)
{
        (void)dn__file_watch_free(*watch);
}

static dn__file_watch *watch_new(dn__files *files, const char *path)
{
        dn__file_watch *watch = calloc(1, sizeof(*watch));
        char *copy = strdup(path);

        if (!watch || !copy) {
                free(copy);
                free(watch);
                return NULL;
        }
        *watch = (dn__file_watch){ .files = files, .path = copy, .n_refs = 1 };
        return watch;
}

static int begin_first_look(dn__file_watch *watch)
{
        int r = dn__loop_start(watch->files->loop);

        if (r < 0)
                return r;
        DN__HOLD(&watch->files->lock);
        watch->is_new = true;
        dn__list_append(&watch->files->watches, &watch->link);
        return 0;
}

static void end_first_look(dn__file_watch *watch)
{
        DN__HOLD(&watch->files->lock);
        watch->is_new = false;
}

int dn__file_watch_new(const char *path, unsigned flags, void (*changed)(int token), int token,
                       dn__file_watch **ret_watch)
{
        dn__file_watch *watch DN__CLEANUP(free_watch) = NULL;
        dn__files *files;
        int r;

        assert(path[0] == '/');
        files = dn__files_get_shared(look, &r);
        if (!files)
                return r;
        watch = watch_new(files, path);
        if (!watch)
                return -ENOMEM;
        watch->flags = flags ? flags : NOTIFY_MONITOR_ALL;
        watch->changed = changed;
        watch->token = token;
        r = begin_first_look(watch);
        if (r < 0)
                return r;
        r = listen_and_read(watch, &watch->status);
        if (r < 0)
                return r;
        end_first_look(watch);
        *ret_watch = DN__TAKE(watch);
        return 0;
}

static void stop_listening(dn__file_watch *watch)
{
        DN__HOLD(&watch->files->lock);
        watch->is_freed = true;
        dn__list_remove(&watch->link);
        dn__list_remove(&watch->due);
        dn__file_way_deinit(&watch->way, &watch->files->places);
}

dn__file_watch *dn__file_watch_free(dn__file_watch *watch)
{
        if (!watch || watch->files->process.fork_id != dn__fork_id())
                return NULL;
        stop_listening(watch);
        watch_unref(watch);
        return NULL;
}
