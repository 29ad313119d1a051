/* Separates a forked child from its parent.
 *
 * The kernel marks the child: the process's ID is stored in a page that the kernel clears in a
 * child. The page is part of the library, so that nothing of it remains when that is unloaded.
 * Nothing here takes a lock, and waiting for fork(), or making it wait, is limited in time. The
 * host's own fork handlers may therefore call the library, whether they run before ours or after
 * them. Atomic operations are sequentially consistent unless stated otherwise. */
#include "util/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

/* The largest pages that the architecture may have. */
#if defined(__x86_64__) || defined(__i386__)
#define PAGE_BYTES 4096
#else
#define PAGE_BYTES 65536
#endif

_Alignas(PAGE_BYTES) _Atomic uint64_t dn__fork_own_id[PAGE_BYTES / sizeof(uint64_t)];

/* Not cleared: a child's IDs are greater than those of its parent at the time of the fork. */
static _Atomic uint64_t last_id;

/* Guards are reused, not freed: a child may walk the list at any moment. */
struct dn__fork_guard {
        dn__fork_guard *next; /* constant once in the list */
        _Atomic int fd;       /* or one of the two constants below */
        uint64_t fork_id;     /* of the process that opened it */
        dev_t device;         /* identifies the open file: the host may have closed it */
        ino_t inode;
};

enum { UNUSED = -1, CHANGING = -2 };

static _Atomic(dn__fork_guard *) guards;

static bool is_same_file(const dn__fork_guard *guard, int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_dev == guard->device &&
               status.st_ino == guard->inode;
}

/* The host's earlier fork handlers may have used the library: what they opened stays open. */
void dn__fork_leave_parent(void)
{
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
                int fd = atomic_load(&guard->fd);

                if (fd == UNUSED || guard->fork_id == dn__fork_id())
                        continue;
                if (fd >= 0 && is_same_file(guard, fd))
                        (void)close(fd);
                atomic_store(&guard->fd, UNUSED);
        }
}

/* --- Opening during a fork ------------------------------------------------------------------ */

/* Both opening a descriptor and forking, even a process of many gigabytes, take much less. */
#define TIMEOUT_US (100 * DN__US_PER_MS)
#define POLL_US 20

/* Number of threads that are opening something, and of those that are forking. */
static _Atomic unsigned n_opening, n_forking;

/* This thread's share: a signal handler may fork, a fork handler may open. */
static _Thread_local unsigned n_own_opening, n_own_forking;

static bool is_too_late(uint64_t until_us)
{
        const struct timespec look = dn__clock_timespec(POLL_US);

        if (dn__clock_now_us() >= until_us)
                return true;
        (void)nanosleep(&look, NULL);
        return false;
}

void dn__fork_hold_off(void)
{
        uint64_t until_us;

        if (n_own_opening++ > 0)
                return;
        until_us = dn__clock_after_us(TIMEOUT_US);
        for (;;) {
                /* At least one of the two threads sees the other. */
                atomic_fetch_add(&n_opening, 1);
                if (atomic_load(&n_forking) <= n_own_forking)
                        return;
                atomic_fetch_sub(&n_opening, 1);
                if (is_too_late(until_us))
                        break;
        }
        atomic_fetch_add(&n_opening, 1);
}

void dn__fork_let_go(void)
{
        if (--n_own_opening == 0)
                atomic_fetch_sub(&n_opening, 1);
}

static void fork_begins(void)
{
        uint64_t until_us = dn__clock_after_us(TIMEOUT_US);

        n_own_forking++;
        atomic_fetch_add(&n_forking, 1);
        while (atomic_load(&n_opening) > (n_own_opening > 0) && !is_too_late(until_us))
                continue;
}

static void fork_is_over(void)
{
        n_own_forking--;
        atomic_fetch_sub(&n_forking, 1);
}

/* The other threads do not exist in the child. */
static void child_begins(void)
{
        n_own_forking = 0;
        atomic_store(&n_forking, 0);
        atomic_store(&n_opening, n_own_opening > 0);
        dn__fork_leave_parent();
}

static int init_result = -ENOMEM;

static void init_once(void)
{
        if (sysconf(_SC_PAGESIZE) <= PAGE_BYTES &&
            madvise(dn__fork_own_id, sizeof(dn__fork_own_id), MADV_WIPEONFORK) == 0 &&
            pthread_atfork(fork_begins, fork_is_over, child_begins) == 0)
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

bool dn__fork_guard_is_intact(const dn__fork_guard *guard)
{
        int fd = guard ? atomic_load(&guard->fd) : UNUSED;

        return fd < 0 ? !guard : is_same_file(guard, fd);
}

dn__fork_guard *dn__fork_guard_close(dn__fork_guard *guard, int fd)
{
        dn__fork_hold_off();
        if (!guard || is_same_file(guard, fd))
                (void)close(fd);
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

/* --- State of one process -------------------------------------------------------------------- */

dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *place,
                                     dn__per_process *(*make)(void *context),
                                     void (*discard)(dn__per_process *made), void *context)
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
                discard(made);
        }
        return found;
}

dn__per_process *dn__per_process_find(_Atomic(dn__per_process *) *place)
{
        dn__per_process *found = atomic_load_explicit(place, memory_order_acquire);

        return found && found->fork_id == dn__fork_id() ? found : NULL;
}

dn__per_process *dn__per_process_take(_Atomic(dn__per_process *) *place)
{
        dn__per_process *found = dn__per_process_find(place);

        if (found)
                atomic_store(place, found->parents);
        return found;
}
