/* Resolves a path at one moment: its file and the directories it goes through. */
#include "filewatch/path.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <notify_private.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"

/* ---- the file -------------------------------------------------------------------------------- */

#define NS_PER_SECOND INT64_C(1000000000)

/* The largest step of the file system clock: two writes within one step leave the same time. */
#define TICK_NS INT64_C(20000000)

static int64_t to_ns(struct statx_timestamp time)
{
        return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

static int64_t now_ns(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

dn__file_status dn__file_status_read(const char *path)
{
        int64_t read_ns = now_ns();
        struct statx file;

        if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &file) < 0)
                return (dn__file_status){ .error = errno, .read_ns = read_ns };
        return (dn__file_status){
                .mode = file.stx_mode,
                .user = file.stx_uid,
                .group = file.stx_gid,
                .device = makedev(file.stx_dev_major, file.stx_dev_minor),
                .inode = file.stx_ino,
                .n_links = file.stx_nlink,
                .n_bytes = file.stx_size,
                .birth_ns = file.stx_mask & STATX_BTIME ? to_ns(file.stx_btime) : 0,
                .modified_ns = to_ns(file.stx_mtime),
                .changed_ns = to_ns(file.stx_ctime),
                .read_ns = read_ns,
        };
}

/* Inode numbers are soon reused after a deletion: hence the birth time. */
bool dn__file_status_is_same_file(const dn__file_status *a, const dn__file_status *b)
{
        if (a->error || b->error)
                return a->error && b->error;
        return a->device == b->device && a->inode == b->inode &&
               a->birth_ns == b->birth_ns && (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

static unsigned bits_of_gone(int error)
{
        if (error == ENOENT || error == ENOTDIR)
                return NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_RENAME;
        return NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_REVOKE;
}

/* It may have been created and written to since the last look, or have come with its contents:
 * anyone interested in those has to read it either way. */
static unsigned bits_of_new(const dn__file_status *now)
{
        return NOTIFY_MONITOR_CREATE |
               (now->n_bytes > 0 ? NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_EXTEND : 0);
}

unsigned dn__file_status_compare(const dn__file_status *before, const dn__file_status *now,
                                 bool is_written)
{
        bool is_same = dn__file_status_is_same_file(before, now);
        bool is_recent = before->read_ns - before->modified_ns < TICK_NS;
        unsigned bits = 0;

        if (before->error && now->error)
                return 0;
        if (now->error)
                return bits_of_gone(now->error);
        if (before->error)
                return bits_of_new(now);
        /* Perhaps deleted and recreated between two looks. */
        if (!is_same)
                bits |= NOTIFY_MONITOR_RENAME | NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_DELETE |
                        NOTIFY_MONITOR_CREATE;
        if (now->n_bytes > before->n_bytes)
                bits |= NOTIFY_MONITOR_EXTEND;
        if (now->n_bytes != before->n_bytes)
                bits |= NOTIFY_MONITOR_WRITE;
        /* Setting a file's time cannot be told from writing the same contents. */
        if (now->modified_ns != before->modified_ns || (is_written && is_recent))
                bits |= NOTIFY_MONITOR_MTIME | NOTIFY_MONITOR_WRITE;
        if (now->changed_ns != before->changed_ns)
                bits |= NOTIFY_MONITOR_CTIME;
        if (now->mode != before->mode || now->user != before->user || now->group != before->group)
                bits |= NOTIFY_MONITOR_ATTRIB;
        if (now->n_links != before->n_links)
                bits |= NOTIFY_MONITOR_LINK;
        return bits;
}

/* ---- the directories ------------------------------------------------------------------------- */

/* The kernel's own limit. */
#define MAX_LINKS 40

/* The position of a walk. It ends if the path becomes too long for the kernel. */
typedef struct walk {
        dn__file_route *route;
        int n_links;
        char directory[PATH_MAX]; /* "" for the root */
        char rest[PATH_MAX];      /* what remains to be looked up from there */
} walk;

static const char *directory_of(const walk *walk)
{
        return walk->directory[0] ? walk->directory : "/";
}

/* Takes the next name off the rest; returns false at the end, or if a name is too long. */
static bool next_name(walk *walk, char ret_name[NAME_MAX + 1])
{
        size_t n_slashes = strspn(walk->rest, "/");
        size_t n = strcspn(walk->rest + n_slashes, "/");

        if (n == 0 || n > NAME_MAX)
                return false;
        memcpy(ret_name, walk->rest + n_slashes, n);
        ret_name[n] = '\0';
        memmove(walk->rest, walk->rest + n_slashes + n, strlen(walk->rest + n_slashes + n) + 1);
        return true;
}

static int reserve_step(dn__file_route *route)
{
        size_t n = route->n_allocated ? 2 * route->n_allocated : 8;
        dn__file_step *steps;

        if (route->n_steps < route->n_allocated)
                return 0;
        steps = reallocarray(route->steps, n, sizeof(*steps));
        if (!steps)
                return -ENOMEM;
        route->steps = steps;
        route->n_allocated = n;
        return 0;
}

static int add_step(walk *walk, const char *name)
{
        char *directory DN__FREES = strdup(directory_of(walk));
        char *copy DN__FREES = strdup(name);
        dn__file_step step = { 0 };
        struct stat status;
        int r = reserve_step(walk->route);

        if (r < 0 || !directory || !copy)
                return -ENOMEM;
        /* A directory that has just gone has no number, so it differs from any earlier one. */
        if (lstat(directory, &status) == 0) {
                step.device = status.st_dev;
                step.inode = status.st_ino;
        }
        step.directory = DN__TAKE(directory);
        step.name = DN__TAKE(copy);
        walk->route->steps[walk->route->n_steps++] = step;
        return 0;
}

/* Puts the target of a link in front of the rest. Returns false if it leads nowhere. */
static bool follow(walk *walk, const char *link)
{
        char target[PATH_MAX];
        ssize_t n = readlink(link, target, sizeof(target));
        size_t n_rest = strlen(walk->rest);

        if (n <= 0 || (size_t)n + n_rest >= sizeof(walk->rest) || ++walk->n_links > MAX_LINKS)
                return false;
        memmove(walk->rest + n, walk->rest, n_rest + 1);
        memcpy(walk->rest, target, (size_t)n);
        if (target[0] == '/')
                walk->directory[0] = '\0';
        return true;
}

static void leave_directory(walk *walk)
{
        char *slash = strrchr(walk->directory, '/');

        if (slash)
                *slash = '\0';
}

/* Returns 1 to continue the walk, 0 at its end, or -ENOMEM. */
static int look_up(walk *walk, const char *name)
{
        size_t n = strlen(walk->directory), n_name = strlen(name);
        char path[PATH_MAX];
        struct stat status;
        int r = add_step(walk, name);

        if (r < 0)
                return r;
        if (n + 1 + n_name >= sizeof(path))
                return 0;
        memcpy(path, walk->directory, n);
        path[n] = '/';
        memcpy(path + n + 1, name, n_name + 1);
        if (lstat(path, &status) < 0)
                return 0;
        if (S_ISLNK(status.st_mode))
                return follow(walk, path);
        memcpy(walk->directory, path, n + 1 + n_name + 1);
        return S_ISDIR(status.st_mode);
}

int dn__file_route_init(dn__file_route *route, const char *path)
{
        walk walk = { .route = route };
        char name[NAME_MAX + 1];
        int r = 1;

        assert(path[0] == '/');
        *route = (dn__file_route){ 0 };
        if (strlen(path) >= sizeof(walk.rest))
                return 0;
        strcpy(walk.rest, path);
        while (r > 0 && next_name(&walk, name)) {
                if (strcmp(name, ".") == 0)
                        continue;
                if (strcmp(name, "..") == 0)
                        leave_directory(&walk);
                else
                        r = look_up(&walk, name);
        }
        if (r < 0)
                dn__file_route_deinit(route);
        return r < 0 ? r : 0;
}

void dn__file_route_deinit(dn__file_route *route)
{
        for (size_t i = 0; i < route->n_steps; i++) {
                free(route->steps[i].directory);
                free(route->steps[i].name);
        }
        free(route->steps);
        *route = (dn__file_route){ 0 };
}

static bool is_same_step(const dn__file_step *a, const dn__file_step *b)
{
        return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0 &&
               strcmp(a->directory, b->directory) == 0;
}

bool dn__file_route_is_same(const dn__file_route *a, const dn__file_route *b)
{
        if (a->n_steps != b->n_steps)
                return false;
        for (size_t i = 0; i < a->n_steps; i++)
                if (!is_same_step(&a->steps[i], &b->steps[i]))
                        return false;
        return true;
}
