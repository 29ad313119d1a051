/* Finds out along which of many paths something may have changed.
 *
 * One inotify descriptor listens to inodes: directories and files. Each step of a path is an inode
 * with the name that comes next, so an event that names another file in a directory is ignored.
 * The descriptor is kept, since closing it can take seconds on a busy machine, and an inode is
 * dropped with its last step. */
#include "notify/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "util/descriptor.h"
#include "util/hash.h"

/* Symbolic links followed on the way to a file: the kernel's own limit. */
#define MAX_LINKS 40

/* The owner's lock is held during these reads: the rest is read next time. */
#define MAX_READS 16

#define ENTRY_EVENTS (IN_CREATE | IN_DELETE | IN_MOVE)
#define DIRECTORY_EVENTS (ENTRY_EVENTS | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Writing through a mapping causes no event, but unmapping does. */
#define FILE_EVENTS (DIRECTORY_EVENTS | IN_MODIFY | IN_CLOSE_WRITE)

typedef struct inode {
        dn__map_entry entry;
        int wd; /* its watch descriptor, which inotify does not reuse */
        dn__link steps;
} inode;

typedef struct step {
        dn__link link; /* in the inode */
        struct step *next; /* in the path */
        inode *inode;
        dn__path *path;
        uint64_t name; /* a hash of what comes next; 0: nothing, this is the file */
} step;

/* --- Inodes ---------------------------------------------------------------------------------- */

static inode *find_inode(const dn__paths *paths, int wd)
{
        dn__map_entry *entry = dn__map_find(&paths->inodes, dn__hash64(&wd, sizeof(wd)),
                                            &wd, sizeof(wd));

        return entry ? DN__CONTAINER(entry, inode, entry) : NULL;
}

static inode *get_inode(dn__paths *paths, int wd)
{
        inode *inode = find_inode(paths, wd);

        if (inode)
                return inode;
        inode = calloc(1, sizeof(*inode));
        if (!inode)
                return NULL;
        dn__list_init(&inode->steps);
        inode->wd = wd;
        inode->entry = dn__map_key(&inode->wd, sizeof(inode->wd));
        if (dn__map_add(&paths->inodes, &inode->entry) == 0)
                return inode;
        free(inode);
        return NULL;
}

/* The kernel has already dropped a file that was deleted. */
static void drop_if_unused(dn__paths *paths, inode *inode)
{
        if (!dn__list_is_empty(&inode->steps))
                return;
        (void)inotify_rm_watch(paths->fd, inode->wd);
        dn__map_remove(&paths->inodes, &inode->entry);
        free(inode);
}

/* --- Steps ----------------------------------------------------------------------------------- */

static void free_steps(dn__paths *paths, step *steps)
{
        for (step *step; (step = steps);) {
                steps = step->next;
                dn__list_remove(&step->link);
                drop_if_unused(paths, step->inode);
                free(step);
        }
}

static bool has_step(const dn__path *path, int wd, uint64_t name)
{
        for (const step *step = path->steps; step; step = step->next)
                if (step->inode->wd == wd && step->name == name)
                        return true;
        return false;
}

static int add_step(dn__paths *paths, dn__path *path, int wd, uint64_t name)
{
        inode *inode;
        step *step;

        if (has_step(path, wd, name))
                return 0;
        inode = get_inode(paths, wd);
        step = inode ? malloc(sizeof(*step)) : NULL;
        if (step) {
                *step = (struct step){ .next = path->steps, .inode = inode, .path = path,
                                       .name = name };
                dn__list_append(&inode->steps, &step->link);
                path->steps = step;
                return 0;
        }
        if (inode)
                drop_if_unused(paths, inode);
        else
                (void)inotify_rm_watch(paths->fd, wd);
        return -ENOMEM;
}

/* Hashes the first name in the rest of a path; 0: there is none. */
static uint64_t hash_next(const char *rest)
{
        size_t n_bytes;

        rest += strspn(rest, "/");
        n_bytes = strcspn(rest, "/");
        return n_bytes ? dn__hash64(rest, n_bytes) : 0;
}

/* --- Resolving ------------------------------------------------------------------------------- */

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

/* Listens to the beginning of a path for what comes next on it. Returns 0 or a negative errno. */
static int listen_to(dn__paths *paths, dn__path *path, char *text, size_t n_bytes, uint32_t events)
{
        char after = text[n_bytes];
        int wd;

        text[n_bytes] = '\0';
        wd = inotify_add_watch(paths->fd, n_bytes ? text : "/", events | IN_MASK_ADD);
        text[n_bytes] = after;
        return wd < 0 ? -errno : add_step(paths, path, wd, hash_next(text + n_bytes));
}

/* Reading a file is not needed for its status, but to listen to it: otherwise its directory
 * reports writes to it. */
static int listen_to_file(dn__paths *paths, dn__path *path, char *text, size_t n_directory)
{
        int r = listen_to(paths, path, text, strlen(text), FILE_EVENTS);

        return r == -EACCES ? listen_to(paths, path, text, n_directory, FILE_EVENTS) : r;
}

/* Starts at the root and listens to each step before it reads the next, so that any later change is
 * an event. */
static int listen_along(dn__paths *paths, dn__path *path, char text[PATH_MAX])
{
        int n_links = 0, r = listen_to(paths, path, text, 0, DIRECTORY_EVENTS);
        size_t end = 0, before;

        while (r == 0 && text[end + strspn(text + end, "/")]) {
                before = end;
                end += strspn(text + end, "/");
                end += strcspn(text + end, "/");
                if (follow_link(text, end)) {
                        if (++n_links > MAX_LINKS)
                                return 0;
                        end = 0;
                        r = listen_to(paths, path, text, 0, DIRECTORY_EVENTS);
                } else if (!text[end]) {
                        r = listen_to_file(paths, path, text, before);
                } else {
                        r = listen_to(paths, path, text, end, DIRECTORY_EVENTS | IN_ONLYDIR);
                        if (r == -EACCES || r == -EPERM)
                                r = 0;
                }
        }
        return r == -ENOSPC || r == -ENOMEM ? r : 0;
}

int dn__path_resolve(dn__paths *paths, dn__path *path, const char *absolute)
{
        step *before = path->steps;
        char text[PATH_MAX];
        int r;

        path->steps = NULL;
        if (snprintf(text, sizeof(text), "%s", absolute) >= (int)sizeof(text))
                text[0] = '\0';
        r = listen_along(paths, path, text);
        path->is_incomplete = r < 0;
        /* Only now: what both ways have in common has been listened to all the time. */
        free_steps(paths, before);
        return r;
}

void dn__path_leave(dn__paths *paths, dn__path *path)
{
        free_steps(paths, path->steps);
        path->steps = NULL;
}

/* --- Events ---------------------------------------------------------------------------------- */

/* An event without a name concerns the inode itself. */
static void note_event(inode *inode, const struct inotify_event *event)
{
        uint64_t name = event->len ? hash_next(event->name) : 0;

        DN__LIST_EACH(struct step, step, &inode->steps, link)
                if (!name || step->name == name || (!step->name && (event->mask & ENTRY_EVENTS)))
                        step->path->may_have_changed = true;
}

static void note(dn__paths *paths, const struct inotify_event *event)
{
        inode *inode = find_inode(paths, event->wd);

        if (inode)
                note_event(inode, event);
        else if (event->mask & IN_Q_OVERFLOW)
                DN__MAP_EACH(struct inode, other, &paths->inodes, entry)
                        note_event(other, event);
}

bool dn__paths_read(dn__paths *paths)
{
        _Alignas(struct inotify_event) char events[16384];
        ssize_t n = 0;
        bool has_any = false;

        for (int i = 0; i < MAX_READS && (n = read(paths->fd, events, sizeof(events))) > 0; i++) {
                const struct inotify_event *event;

                has_any = true;
                for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
                        event = (const struct inotify_event *)(const void *)(events + at);
                        note(paths, event);
                }
        }
        return has_any;
}

/* --- The descriptor -------------------------------------------------------------------------- */

int dn__paths_init(dn__paths *paths)
{
        *paths = (dn__paths){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
        if (paths->fd < 0)
                return dn__descriptor_refused();
        paths->guard = dn__fork_guard_new(paths->fd);
        return 0;
}

bool dn__paths_are_intact(const dn__paths *paths)
{
        return paths->fd >= 0 && dn__fork_guard_is_intact(paths->guard);
}

void dn__paths_close(dn__paths *paths)
{
        if (paths->fd >= 0)
                paths->guard = dn__fork_guard_close(paths->guard, paths->fd);
        paths->fd = -1;
}

void dn__paths_deinit(dn__paths *paths)
{
        dn__paths_close(paths);
        dn__map_deinit(&paths->inodes);
}
