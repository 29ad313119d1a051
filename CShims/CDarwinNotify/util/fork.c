/* Telling a forked child from its parent, and keeping what is the parent's out of it.
 *
 * Nothing here takes a lock, so that fork() waits for nobody, and nobody for it: handlers of the
 * host that run around fork() may call the library, or take locks of the host. */
#include "util/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Written by a child only before its first other thread exists: relaxed is enough. */
static _Atomic uint64_t fork_id = 1;

/* Guards are never freed, but used again: a child may walk over them at any moment. */
struct dn__fork_guard {
        dn__fork_guard *next; /* constant once it is in the list */
        _Atomic int fd;       /* or one of the two below */
        dev_t device;         /* what the descriptor was opened for: the host may have closed it */
        ino_t inode;
};

enum { UNUSED = -1, CHANGING = -2 };

static _Atomic(dn__fork_guard *) guards;

static void after_fork_in_child(void)
{
        atomic_fetch_add_explicit(&fork_id, 1, memory_order_relaxed);
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
                int fd = atomic_load(&guard->fd);
                struct stat status;

                if (fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == guard->device &&
                    status.st_ino == guard->inode)
                        (void)close(fd);
                atomic_store(&guard->fd, UNUSED);
        }
}

static int init_result;

static void init_once(void)
{
        init_result = pthread_atfork(NULL, NULL, after_fork_in_child);
}

int dn__fork_init(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, init_once);
        return init_result == 0 ? 0 : -ENOMEM;
}

uint64_t dn__fork_id(void)
{
        return atomic_load_explicit(&fork_id, memory_order_relaxed);
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
        dn__fork_guard *guard = find_unused();

        if (!guard)
                guard = add_new();
        dn__fork_guard_set(guard, fd);
        return guard;
}

void dn__fork_guard_set(dn__fork_guard *guard, int fd)
{
        struct stat status;

        if (!guard || atomic_load(&guard->fd) == fd)
                return;
        atomic_store(&guard->fd, CHANGING);
        if (fstat(fd, &status) < 0)
                return;
        guard->device = status.st_dev;
        guard->inode = status.st_ino;
        atomic_store(&guard->fd, fd);
}

dn__fork_guard *dn__fork_guard_free(dn__fork_guard *guard)
{
        if (guard)
                atomic_store(&guard->fd, UNUSED);
        return NULL;
}

dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *place,
                                     dn__per_process *(*make)(void *context),
                                     void (*unmake)(dn__per_process *made), void *context)
{
        dn__per_process *found = atomic_load_explicit(place, memory_order_acquire), *made;

        while (!found || found->fork_id != dn__fork_id()) {
                if (dn__fork_init() < 0)
                        return NULL;
                made = make(context);
                if (!made)
                        return NULL;
                made->fork_id = dn__fork_id();
                made->parents = found;
                if (atomic_compare_exchange_strong(place, &found, made))
                        return made;
                unmake(made);
        }
        return found;
}
