/* Reports changes of a file, including changes along its path.
 *
 * An event says only that something may have changed along the path of a file (paths.h). Then the
 * path is resolved anew, and the file's status is read and compared with the one before. So lost,
 * repeated or unrelated events are harmless. */
#include "notify/file-watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <notify_private.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "notify/paths.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/loop.h"
#include "util/statx.h"

/* Changes within this time are reported once. */
#define MERGE_US (100 * DN__US_PER_MS)

/* How often to look at the files while the process has no descriptor left to listen with. */
#define RENEW_US (500 * DN__US_PER_MS)

/* How long to rest after events of other files in the same directories. */
#define IGNORE_US (10 * DN__US_PER_MS)

/* The watched files of a process. The lock is held while paths are resolved: only threads that
 * begin or end a watch wait for it. */
typedef struct files {
        dn__per_process process;
        dn__lock lock;
        dn__link watches DN__GUARDED_BY(&lock);
        dn__loop *loop;
        dn__source source;
        dn__paths paths; /* its descriptor is changed by the thread, with the lock */
        uint64_t renew_us; /* when to try to get a descriptor again */
} files;

struct dn__file_watch {
        files *files;
        dn__link link;
        unsigned flags;
        void (*changed)(int token);
        int token;
        /* Guarded by the lock of the files: */
        struct statx status; /* from the last look; of size 0 and mode 0 if there was no file */
        int error;           /* why there was none, or 0 */
        bool is_fresh;       /* written in the tick of that look: its time may hide another write */
        bool is_due;         /* `changed` is to be called */
        dn__path path;
        char text[]; /* of the path */
};

/* --- Comparing ------------------------------------------------------------------------------- */

static bool is_same_time(struct statx_timestamp a, struct statx_timestamp b)
{
        return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Inode numbers are soon reused after a deletion: hence the birth time. */
static bool is_same_file(const struct statx *a, const struct statx *b)
{
        return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor &&
               a->stx_ino == b->stx_ino && is_same_time(a->stx_btime, b->stx_btime) &&
               (a->stx_mode & S_IFMT) == (b->stx_mode & S_IFMT);
}

/* Until its clock ticks, the kernel gives another write the same time. */
static bool is_of_this_tick(struct statx_timestamp time)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
        return time.tv_sec > now.tv_sec ||
               (time.tv_sec == now.tv_sec && time.tv_nsec >= now.tv_nsec);
}

/* Setting a file's time looks like writing the same contents. */
static unsigned compare(const struct statx *before, const struct statx *now, bool is_written)
{
        bool has_grown = now->stx_size > before->stx_size;
        bool is_other_mtime = !is_same_time(now->stx_mtime, before->stx_mtime);
        bool is_other_ctime = !is_same_time(now->stx_ctime, before->stx_ctime);
        bool is_other_mode = now->stx_mode != before->stx_mode ||
                             now->stx_uid != before->stx_uid || now->stx_gid != before->stx_gid;

        return (is_written || is_other_mtime ? NOTIFY_MONITOR_MTIME | NOTIFY_MONITOR_WRITE : 0) |
               (now->stx_size != before->stx_size ? NOTIFY_MONITOR_WRITE : 0) |
               (has_grown ? NOTIFY_MONITOR_EXTEND : 0) |
               (is_other_ctime ? NOTIFY_MONITOR_CTIME : 0) |
               (is_other_mode ? NOTIFY_MONITOR_ATTRIB : 0) |
               (now->stx_nlink != before->stx_nlink ? NOTIFY_MONITOR_LINK : 0);
}

/* Reads the status, following symbolic links. Returns the changes as NOTIFY_MONITOR_ bits. */
static unsigned read_status(dn__file_watch *watch)
{
        struct statx before = watch->status;
        bool was_fresh = watch->is_fresh;
        int error_before = watch->error;

        watch->status = (struct statx){ 0 };
        watch->error = statx(AT_FDCWD, watch->text, 0, STATX_BASIC_STATS | STATX_BTIME,
                             &watch->status) < 0
                               ? errno
                               : 0;
        watch->is_fresh = !watch->error && is_of_this_tick(watch->status.stx_mtime);
        if (watch->error && error_before)
                return 0;
        if (watch->error == ENOENT || watch->error == ENOTDIR)
                return NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_RENAME;
        if (watch->error)
                return NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_REVOKE;
        /* It may have been written to since, or have come with its contents. */
        if (error_before)
                return NOTIFY_MONITOR_CREATE |
                       (watch->status.stx_size ? NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_EXTEND : 0);
        /* Perhaps deleted and created between two looks. */
        return compare(&before, &watch->status, was_fresh) |
               (is_same_file(&before, &watch->status)
                        ? 0
                        : NOTIFY_MONITOR_RENAME | NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_DELETE |
                                  NOTIFY_MONITOR_CREATE);
}

/* --- The thread ------------------------------------------------------------------------------ */

/* Takes another descriptor, when the host has closed this one. */
static void renew(files *files) DN__REQUIRES(&files->lock)
{
        dn__paths_close(&files->paths);
        DN__LIST_EACH(dn__file_watch, watch, &files->watches, link) {
                dn__path_leave(&files->paths, &watch->path);
                watch->path.may_have_changed = true;
        }
        dn__paths_deinit(&files->paths);
        files->renew_us = dn__paths_init(&files->paths) < 0 ? dn__clock_after_us(RENEW_US)
                                                            : DN__NEVER;
}

/* Where nothing more could be listened to, the next event anywhere is the next chance to try.
 * Returns whether a file is to be looked at. */
static bool read_events(files *files)
{
        bool has_some = false;

        DN__AUTO_LOCK(&files->lock);
        if (!dn__paths_are_intact(&files->paths))
                renew(files);
        else if (!dn__paths_read(&files->paths))
                return false;
        DN__LIST_EACH(dn__file_watch, watch, &files->watches, link) {
                watch->path.may_have_changed |= watch->path.is_incomplete;
                has_some |= watch->path.may_have_changed;
        }
        return has_some;
}

/* Listens before it looks, so that a change after this is an event. A path that cannot be resolved
 * to its end is incomplete. */
static void look_at_some(files *files)
{
        DN__AUTO_LOCK(&files->lock);
        DN__LIST_EACH(dn__file_watch, watch, &files->watches, link) {
                if (!watch->path.may_have_changed)
                        continue;
                watch->path.may_have_changed = false;
                (void)dn__path_resolve(&files->paths, &watch->path, watch->text);
                watch->is_due |= (read_status(watch) & watch->flags) != 0;
        }
}

/* Returns whether there was one. */
static bool take_due(files *files, void (**ret_changed)(int token), int *ret_token)
{
        DN__AUTO_LOCK(&files->lock);
        DN__LIST_EACH(dn__file_watch, watch, &files->watches, link) {
                if (!watch->is_due)
                        continue;
                watch->is_due = false;
                *ret_changed = watch->changed;
                *ret_token = watch->token;
                return true;
        }
        return false;
}

static bool prepare(dn__source *source, dn__wait *wait)
{
        files *files = DN__CONTAINER(source, struct files, source);

        *wait = (dn__wait){ files->paths.fd, POLLIN, files->renew_us };
        return true;
}

/* Sleeps until changes have gathered: the loop has nothing else to do. */
static void dispatch(dn__source *source)
{
        files *files = DN__CONTAINER(source, struct files, source);
        void (*changed)(int token);
        int token;

        if (!read_events(files)) {
                dn__clock_sleep_until(dn__clock_after_us(IGNORE_US));
                return;
        }
        dn__clock_sleep_until(dn__clock_after_us(MERGE_US));
        (void)read_events(files);
        look_at_some(files);
        while (take_due(files, &changed, &token))
                changed(token);
}

/* --- The files of this process --------------------------------------------------------------- */

static _Atomic(dn__per_process *) shared;

static void closed(void *context)
{
        files *files = context;

        dn__paths_deinit(&files->paths);
        dn__lock_deinit(&files->lock);
        free(files);
}

static dn__per_process *make_files(void *nothing)
{
        static const dn__source_ops ops = { prepare, dispatch };
        files *files = calloc(1, sizeof(*files));
        const dn__loop_options options = {
                .thread_name = "dn-files",
                .polls = true,
                .closed = closed,
                .context = files,
        };

        (void)nothing;
        if (!files)
                return NULL;
        dn__lock_init(&files->lock);
        dn__list_init(&files->watches);
        files->source.ops = &ops;
        files->renew_us = DN__NEVER;
        if (dn__paths_init(&files->paths) < 0 || dn__loop_new(&options, &files->loop) < 0) {
                closed(files);
                return NULL;
        }
        dn__loop_add(files->loop, &files->source);
        return &files->process;
}

static void discard_files(dn__per_process *made)
{
        (void)dn__loop_close(((files *)made)->loop);
}

void dn__files_close(void)
{
        files *files = dn__per_process_take(&shared);

        if (files)
                (void)dn__loop_close(files->loop);
}

/* --- Watching -------------------------------------------------------------------------------- */

static int begin(dn__file_watch *watch)
{
        files *files = watch->files;
        int r;

        DN__AUTO_LOCK(&files->lock);
        r = dn__loop_start(files->loop);
        if (r < 0)
                return r;
        r = dn__path_resolve(&files->paths, &watch->path, watch->text);
        if (r < 0) {
                dn__path_leave(&files->paths, &watch->path);
                return r;
        }
        (void)read_status(watch); /* changes from here on are reported */
        dn__list_append(&files->watches, &watch->link);
        return 0;
}

int dn__file_watch_new(const char *path, unsigned flags, void (*changed)(int token), int token,
                       dn__file_watch **ret_watch)
{
        dn__per_process *found = dn__per_process_get(&shared, make_files, discard_files, NULL);
        size_t n_bytes = strlen(path) + 1;
        dn__file_watch *watch DN__FREES = found ? calloc(1, sizeof(*watch) + n_bytes) : NULL;
        int r;

        assert(path[0] == '/');
        if (!watch)
                return -ENOMEM;
        watch->files = (files *)found;
        watch->flags = flags ? flags : NOTIFY_MONITOR_ALL;
        watch->changed = changed;
        watch->token = token;
        memcpy(watch->text, path, n_bytes);
        r = begin(watch);
        if (r == 0)
                *ret_watch = DN__TAKE(watch);
        return r;
}

dn__file_watch *dn__file_watch_free(dn__file_watch *watch)
{
        files *files = watch ? watch->files : NULL;

        if (!files || files != dn__per_process_find(&shared))
                return NULL;
        dn__lock_acquire(&files->lock);
        dn__list_remove(&watch->link);
        dn__path_leave(&files->paths, &watch->path);
        dn__lock_release(&files->lock);
        free(watch);
        return NULL;
}
