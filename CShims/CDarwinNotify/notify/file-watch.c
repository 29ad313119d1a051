/* Telling when a file changes, whatever happens on the way to it. */
#include "notify/file-watch.h"

#include <errno.h>
#include <notify_private.h>
#include <stdlib.h>
#include <string.h>

#include "notify/file-watch-internal.h"
#include "util/thread.h"

static dn__per_process *make(void *ret_error)
{
        dn__files *files = calloc(1, sizeof(*files));
        int r;

        if (!files)
                return NULL;
        r = dn__file_places_init(&files->places);
        if (r < 0) {
                *(int *)ret_error = r;
                free(files);
                return NULL;
        }
        dn__lock_init(&files->lock);
        dn__list_init(&files->watches);
        dn__list_init(&files->due);
        dn__lock_acquire(&files->lock);
        files->fd = files->places.fd;
        dn__lock_release(&files->lock);
        return &files->process;
}

static void unmake(dn__per_process *made)
{
        dn__files *files = DN__CONTAINER(made, dn__files, process);

        dn__lock_deinit(&files->lock);
        dn__file_places_deinit(&files->places);
        free(files);
}

static dn__files *get_shared(int *ret_error)
{
        static _Atomic(dn__per_process *) shared;
        dn__per_process *found;

        *ret_error = -ENOMEM;
        found = dn__per_process_get(&shared, make, unmake, ret_error);
        return found ? DN__CONTAINER(found, dn__files, process) : NULL;
}

void dn__file_watch_unref(dn__file_watch *watch)
{
        bool is_last;

        dn__lock_acquire(&watch->files->lock);
        is_last = --watch->n_refs == 0;
        dn__lock_release(&watch->files->lock);
        if (!is_last)
                return;
        free(watch->path);
        free(watch);
}

static dn__file_watch *watch_new(const char *path)
{
        dn__file_watch *watch = calloc(1, sizeof(*watch));

        if (!watch)
                return NULL;
        watch->path = strdup(path);
        if (watch->path)
                return watch;
        free(watch);
        return NULL;
}

static int start_thread(dn__files *files) DN__REQUIRES(&files->lock)
{
        int r = files->is_started ? 0 : dn__thread_start("dn-files", dn__file_thread_main, files);

        files->is_started = r == 0;
        return r;
}

static int add(dn__file_watch *watch)
{
        dn__files *files = watch->files;
        int r;

        dn__lock_acquire(&files->lock);
        r = start_thread(files);
        if (r == 0) {
                watch->is_new = true;
                dn__list_append(&files->watches, &watch->link);
        }
        dn__lock_release(&files->lock);
        return r;
}

static void end_first_look(dn__file_watch *watch)
{
        dn__lock_acquire(&watch->files->lock);
        watch->is_new = false;
        dn__lock_release(&watch->files->lock);
}

int dn__file_watch_new(const char *path, unsigned flags, void (*changed)(int token), int token,
                       dn__file_watch **ret_watch)
{
        dn__file_watch *watch;
        dn__files *files;
        int r;

        files = get_shared(&r);
        if (!files)
                return r;
        watch = watch_new(path);
        if (!watch)
                return -ENOMEM;
        watch->files = files;
        watch->flags = flags ? flags : NOTIFY_MONITOR_ALL;
        watch->changed = changed;
        watch->token = token;
        watch->n_refs = 1;
        r = add(watch);
        if (r == 0)
                r = dn__file_listen_and_read(watch, &watch->status);
        if (r < 0) {
                (void)dn__file_watch_free(watch);
                return r;
        }
        end_first_look(watch);
        *ret_watch = watch;
        return 0;
}

dn__file_watch *dn__file_watch_free(dn__file_watch *watch)
{
        if (!watch || watch->files->process.fork_id != dn__fork_id())
                return NULL;
        dn__lock_acquire(&watch->files->lock);
        watch->is_freed = true;
        dn__list_remove(&watch->link);
        dn__list_remove(&watch->due);
        dn__file_way_deinit(&watch->way, &watch->files->places);
        dn__lock_release(&watch->files->lock);
        dn__file_watch_unref(watch);
        return NULL;
}
