/* Reports changes of a file, including changes along its path.
 *
 * An inotify descriptor listens to every existing directory on the way to each watched file. An
 * event says only that something may have changed. After the first one a new descriptor listens
 * along all paths, and the status of each file is read and compared with the one before. So lost,
 * repeated or unrelated events are harmless, and nobody has to know which directory was listened to
 * for which file. */
#include "notify/file-watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <notify_private.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/loop.h"

/* Changes within this time are reported once. */
#define MERGE_US (100 * DN__US_PER_MS)

/* Symbolic links followed on the way to a file: the kernel's own limit. */
#define MAX_LINKS 40

#define ENTRY_EVENTS (IN_CREATE | IN_DELETE | IN_MOVE)
#define DIRECTORY_EVENTS (ENTRY_EVENTS | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Writing through a mapping causes no event, but unmapping does. */
#define FILE_EVENTS (DIRECTORY_EVENTS | IN_MODIFY | IN_CLOSE_WRITE)

/* The watched files of a process. The lock is held while paths are resolved: only threads that
 * begin or end a watch wait for it. */
typedef struct files {
        dn__per_process process;
        dn__lock lock;
        dn__link watches DN__GUARDED_BY(&lock);
        dn__loop *loop;
        dn__source source;
        int fd; /* of inotify; changed by the thread, with the lock */
        dn__fork_guard *guard;
        _Atomic bool has_ended_some; /* since the last look: listens to more than is needed */
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
        char path[];
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
        watch->error = statx(AT_FDCWD, watch->path, 0, STATX_BASIC_STATS | STATX_BTIME,
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

/* --- Listening ------------------------------------------------------------------------------- */

/* If the beginning of the path is a symbolic link, replaces it with its target, or with nothing if
 * the result is too long. Returns whether it is a link. */
static bool follow_link(char path[PATH_MAX], size_t n_bytes)
{
        char target[PATH_MAX], whole[PATH_MAX], after = path[n_bytes];
        size_t n_directory;
        ssize_t n;

        path[n_bytes] = '\0';
        n = readlink(path, target, sizeof(target) - 1);
        n_directory = (size_t)(strrchr(path, '/') + 1 - path);
        path[n_bytes] = after;
        if (n <= 0)
                return false;
        target[n] = '\0';
        if (snprintf(whole, sizeof(whole), "%.*s%s%s", target[0] == '/' ? 0 : (int)n_directory,
                     path, target, path + n_bytes) >= (int)sizeof(whole))
                whole[0] = '\0';
        strcpy(path, whole);
        return true;
}

/* Returns 0 or a negative errno. */
static int listen_to(int fd, char *path, size_t n_bytes, uint32_t events)
{
        char after = path[n_bytes];
        int r;

        path[n_bytes] = '\0';
        r = inotify_add_watch(fd, path, events | IN_MASK_ADD) < 0 ? -errno : 0;
        path[n_bytes] = after;
        return r;
}

/* Reading a file is not needed for its status, but to listen to it: otherwise its directory
 * reports writes to it. */
static int listen_to_file(int fd, char *path, size_t n_directory)
{
        int r = listen_to(fd, path, strlen(path), FILE_EVENTS);

        return r == -EACCES ? listen_to(fd, path, n_directory ? n_directory : 1, FILE_EVENTS) : r;
}

/* Listens from the root on, so that any change behind this is an event. If the path ends early, the
 * last directory reports its continuation. Returns 0, -ENOSPC or -ENOMEM. */
static int listen_along(int fd, const char *absolute)
{
        int n_links = 0, r = inotify_add_watch(fd, "/", DIRECTORY_EVENTS) < 0 ? -errno : 0;
        size_t end = 0, before;
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s", absolute) >= (int)sizeof(path))
                return 0;
        while (r == 0 && path[end + strspn(path + end, "/")]) {
                before = end;
                end += strspn(path + end, "/");
                end += strcspn(path + end, "/");
                if (follow_link(path, end)) {
                        if (++n_links > MAX_LINKS)
                                return 0;
                        end = 0;
                } else if (!path[end]) {
                        r = listen_to_file(fd, path, before);
                } else {
                        r = listen_to(fd, path, end, DIRECTORY_EVENTS | IN_ONLYDIR);
                        if (r == -EACCES || r == -EPERM)
                                r = 0;
                }
        }
        return r == -ENOSPC || r == -ENOMEM ? r : 0;
}

/* --- The thread ------------------------------------------------------------------------------ */

/* Drops all watches of inotify, some of which may no longer be needed. If there is no descriptor,
 * drops only the events. */
static void renew(files *files) DN__REQUIRES(&files->lock)
{
        int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        char events[16384];

        if (fd < 0) {
                while (read(files->fd, events, sizeof(events)) > 0)
                        continue;
                return;
        }
        files->guard = dn__fork_guard_close(files->guard, files->fd);
        files->fd = fd;
        files->guard = dn__fork_guard_new(fd);
}

/* If nothing more can be listened to, the next event anywhere is the next chance to try. */
static void look_at_all(files *files)
{
        DN__AUTO_LOCK(&files->lock);
        atomic_store(&files->has_ended_some, false);
        renew(files);
        DN__LIST_EACH(dn__file_watch, watch, &files->watches, link) {
                (void)listen_along(files->fd, watch->path);
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

        *wait = (dn__wait){ files->fd, POLLIN, DN__NEVER };
        return !atomic_load(&files->has_ended_some);
}

/* Sleeps until changes have gathered: the loop has nothing else to do. */
static void dispatch(dn__source *source)
{
        files *files = DN__CONTAINER(source, struct files, source);
        void (*changed)(int token);
        int token;

        dn__clock_sleep_until(dn__clock_after_us(MERGE_US));
        look_at_all(files);
        while (take_due(files, &changed, &token))
                changed(token);
}

/* --- The files of this process --------------------------------------------------------------- */

static _Atomic(dn__per_process *) shared;

static void closed(void *context)
{
        files *files = context;

        (void)dn__fork_guard_close(files->guard, files->fd);
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
        files->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (files->fd < 0 || dn__loop_new(&options, &files->loop) < 0) {
                closed(files);
                return NULL;
        }
        files->guard = dn__fork_guard_new(files->fd);
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

static void listen_to_less(files *files)
{
        atomic_store(&files->has_ended_some, true);
        dn__loop_wake(files->loop);
}

static int begin(dn__file_watch *watch)
{
        files *files = watch->files;
        int r;

        DN__AUTO_LOCK(&files->lock);
        r = dn__loop_start(files->loop);
        if (r < 0)
                return r;
        r = listen_along(files->fd, watch->path);
        if (r < 0) {
                listen_to_less(files);
                return r;
        }
        (void)read_status(watch);
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
        memcpy(watch->path, path, n_bytes);
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
        dn__lock_release(&files->lock);
        free(watch);
        listen_to_less(files);
        return NULL;
}
