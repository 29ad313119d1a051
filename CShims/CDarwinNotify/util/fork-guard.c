/* Descriptors that a forked child closes. Nothing here takes a lock. */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fork.h"

/* Guards are reused, not freed: a child may walk the list at any moment. */
struct dn__fork_guard {
        dn__fork_guard *next;     /* constant once in the list */
        _Atomic int fd;           /* or one of the two constants below */
        _Atomic uint64_t fork_id; /* of the process that opened it */
        dev_t device;             /* identifies the open file: the host may have closed it */
        ino_t inode;
        bool is_inotify;
};

enum { UNUSED = -1, CHANGING = -2 };

static _Atomic(dn__fork_guard *) guards;

/* Eventfd, epoll, timer and inotify descriptors share one inode, which has no type. Of these, only
 * inotify reports how much there is to read. */
static bool is_inotify(int fd, const struct stat *status)
{
        int n_bytes;

        return (status->st_mode & S_IFMT) == 0 && ioctl(fd, FIONREAD, &n_bytes) == 0;
}

static bool is_same_file(const dn__fork_guard *guard, int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_dev == guard->device &&
               status.st_ino == guard->inode && is_inotify(fd, &status) == guard->is_inotify;
}

/* Other threads may be here, too, or may already use the guard for what they have opened. */
static void leave(dn__fork_guard *guard)
{
        int fd = atomic_load(&guard->fd);

        if (fd < 0 || guard->fork_id == dn__fork_id() ||
            !atomic_compare_exchange_strong(&guard->fd, &fd, CHANGING))
                return;
        if (guard->fork_id == dn__fork_id()) {
                atomic_store(&guard->fd, fd);
                return;
        }
        if (is_same_file(guard, fd))
                (void)close(fd);
        atomic_store(&guard->fd, UNUSED);
}

void dn__fork_leave_parent(void)
{
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next)
                leave(guard);
}

static dn__fork_guard *find_unused(void)
{
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
                int unused = UNUSED;

                if (atomic_compare_exchange_strong(&guard->fd, &unused, CHANGING))
                        return guard;
        }
        return NULL;
}

static dn__fork_guard *add_new(void)
{
        dn__fork_guard *guard = malloc(sizeof(*guard));

        if (!guard)
                return NULL;
        atomic_init(&guard->fd, CHANGING);
        guard->next = atomic_load(&guards);
        while (!atomic_compare_exchange_weak(&guards, &guard->next, guard))
                continue;
        return guard;
}

dn__fork_guard *dn__fork_guard_new(int fd)
{
        dn__fork_guard *guard;

        if (dn__fork_init() < 0)
                return NULL;
        guard = find_unused();
        if (!guard)
                guard = add_new();
        dn__fork_guard_set(guard, fd);
        return guard;
}

void dn__fork_guard_set(dn__fork_guard *guard, int fd)
{
        struct stat status;

        if (!guard)
                return;
        atomic_store(&guard->fd, CHANGING);
        if (fstat(fd, &status) < 0)
                return;
        guard->fork_id = dn__fork_id();
        guard->device = status.st_dev;
        guard->inode = status.st_ino;
        guard->is_inotify = is_inotify(fd, &status);
        atomic_store(&guard->fd, fd);
}

dn__fork_guard *dn__fork_guard_free(dn__fork_guard *guard)
{
        if (guard)
                atomic_store(&guard->fd, UNUSED);
        return NULL;
}

bool dn__fork_guard_is_intact(const dn__fork_guard *guard)
{
        int fd = guard ? atomic_load(&guard->fd) : UNUSED;

        return fd < 0 ? !guard : is_same_file(guard, fd);
}

/* A child finds either the descriptor with its guard, or neither: with the guard alone it would
 * close what the host has opened with the number since. But a fork does not wait for the kernel,
 * which takes up to seconds to close an inotify. It copies descriptors before it copies memory:
 * until it is over, that guard stays. */
dn__fork_guard *dn__fork_guard_close(dn__fork_guard *guard, int fd)
{
        bool is_slow = guard && guard->is_inotify;

        if (!is_slow)
                dn__fork_hold_off();
        if (!guard || is_same_file(guard, fd))
                (void)close(fd);
        if (is_slow)
                dn__fork_hold_off();
        guard = dn__fork_guard_free(guard);
        dn__fork_let_go();
        return guard;
}

/* A child that is forked meanwhile finds either all guards or none; none is in use. */
void dn__fork_guards_free(void)
{
        dn__fork_guard *guard = atomic_exchange(&guards, NULL);

        while (guard) {
                dn__fork_guard *next = guard->next;

                free(guard);
                guard = next;
        }
}
