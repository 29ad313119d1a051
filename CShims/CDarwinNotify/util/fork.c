/* Keeping a forked child apart from its parent.
 *
 * The kernel itself tells a child: a page that it clears there holds the number of the process.
 * Nothing here takes a lock, so that fork() waits for nobody, and nobody for it. So the handlers
 * of the host that run around fork(), before ours or after them, may call the library. Atomic
 * operations are sequentially consistent where they do not say otherwise. */
#include "util/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Atomic uint64_t *dn__fork_own_id;

/* Not cleared: the numbers of a child are above those of its parent at the time. */
static _Atomic uint64_t last_id;

/* Guards are never freed, but used again: a child may walk over them at any moment. */
struct dn__fork_guard {
        dn__fork_guard *next; /* constant once it is in the list */
        _Atomic int fd;       /* or one of the two below */
        uint64_t fork_id;     /* of the process that has it open */
        dev_t device;         /* what it is open for: the host may have closed it */
        ino_t inode;
};

enum { UNUSED = -1, CHANGING = -2 };

static _Atomic(dn__fork_guard *) guards;

/* Handlers of the host that ran before may have used the library: what they opened stays. */
static void after_fork_in_child(void)
{
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
                int fd = atomic_load(&guard->fd);
                struct stat status;

                if (fd == UNUSED || guard->fork_id == dn__fork_id())
                        continue;
                if (fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == guard->device &&
                    status.st_ino == guard->inode)
                        (void)close(fd);
                atomic_store(&guard->fd, UNUSED);
        }
}

static int init_result = -ENOMEM;

static void init_once(void)
{
        size_t n_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *page = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                          0);

        if (page == MAP_FAILED)
                return;
        if (madvise(page, n_bytes, MADV_WIPEONFORK) < 0 ||
            pthread_atfork(NULL, NULL, after_fork_in_child) != 0) {
                (void)munmap(page, n_bytes);
                return;
        }
        dn__fork_own_id = page;
        init_result = 0;
}

int dn__fork_init(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, init_once);
        return init_result;
}

uint64_t dn__fork_draw_id(void)
{
        uint64_t id = atomic_fetch_add(&last_id, 1) + 1, none = 0;

        return atomic_compare_exchange_strong(dn__fork_own_id, &none, id) ? id : none;
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
                if (!found && dn__fork_init() < 0)
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
