/* Looking at a file, to see what has become of it. */
#include <notify_private.h>

#include "notify/file-watch-internal.h"

/* How long a file whose way cannot be listened to, because of limits, waits for another look. */
#define RETRY_US (1 * DN__US_PER_SECOND)

/* A way that changes at each look will change again, and say so. */
#define MAX_ROUNDS 8

/* Takes the route over. The new way comes first, so that inotify forgets nothing that is in both;
 * if it fails, the old one stays. The kernel has just been there, so the lock is held shortly. */
static int change_way(dn__file_watch *watch, dn__file_route *route, const dn__file_status *status)
{
        dn__files *files = watch->files;
        dn__file_way way;
        int r;

        dn__lock_acquire(&files->lock);
        r = dn__file_way_init(&way, &files->places, route, watch->path, status, watch);
        if (r == 0 && !watch->is_freed) {
                dn__file_way old = watch->way;

                watch->way = way;
                way = old;
        }
        if (r == 0)
                dn__file_way_deinit(&way, &files->places);
        dn__lock_release(&files->lock);
        return r;
}

static bool is_on_way(dn__file_watch *watch, const dn__file_route *route)
{
        bool is_same;

        dn__lock_acquire(&watch->files->lock);
        is_same = watch->is_freed || dn__file_route_is_same(&watch->way.route, route);
        dn__lock_release(&watch->files->lock);
        return is_same;
}

int dn__file_listen_and_read(dn__file_watch *watch, dn__file_status *ret_status)
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

        dn__lock_acquire(&watch->files->lock);
        is_written = watch->is_written;
        watch->is_written = false;
        dn__lock_release(&watch->files->lock);
        return is_written;
}

/* Returns whether the watch is still wanted. */
static bool after_look(dn__file_watch *watch, bool has_failed)
{
        bool is_wanted;

        dn__lock_acquire(&watch->files->lock);
        is_wanted = !watch->is_freed;
        if (is_wanted && has_failed)
                dn__file_look_later(watch->files, watch, RETRY_US);
        dn__lock_release(&watch->files->lock);
        return is_wanted;
}

void dn__file_look(dn__file_watch *watch)
{
        bool is_written = take_is_written(watch);
        dn__file_status before = watch->status;
        int r = dn__file_listen_and_read(watch, &watch->status);
        unsigned bits = dn__file_status_compare(&before, &watch->status, is_written);

        if (after_look(watch, r < 0) && bits & watch->flags)
                watch->changed(watch->token);
}
