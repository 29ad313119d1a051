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

#define PAGE_WORDS (PAGE_BYTES / sizeof(uint64_t))

_Alignas(PAGE_BYTES) _Atomic uint64_t dn__fork_own_id[PAGE_WORDS];

/* Number of threads that are opening something, and of those that are forking. They are on the same
 * page because a child has none of these threads. */
static _Atomic uint64_t *const n_opening = &dn__fork_own_id[PAGE_WORDS / 2];
static _Atomic uint64_t *const n_forking = &dn__fork_own_id[PAGE_WORDS / 2 + 1];

/* Not cleared: a child's IDs are greater than those of its parent at the time of the fork. */
static _Atomic uint64_t last_id;

/* Opening a descriptor and forking take less than a millisecond, but a thread may have to wait for
 * a processor. It takes longer only if one thread needs what the other one has, for example memory,
 * while a fork handler of the host has locked the allocator. */
#define TIMEOUT_US (2 * DN__US_PER_SECOND)
#define POLL_US 20

/* This thread's share: a signal handler may fork, a fork handler may open. */
static _Thread_local struct {
        uint64_t fork_id; /* the first thread of a child finds its parent's */
        unsigned n_opening, n_forking;
} own;

static void find_own(void)
{
        if (own.fork_id == dn__fork_id())
                return;
        own.fork_id = dn__fork_id();
        own.n_opening = 0;
        own.n_forking = 0;
}

static bool is_too_late(uint64_t until_us)
{
        const struct timespec look = dn__clock_timespec(POLL_US);

        if (dn__clock_now_us() >= until_us)
                return true;
        (void)nanosleep(&look, NULL);
        return false;
}

/* At least one of the two threads sees the other. */
static bool begin_opening(void)
{
        atomic_fetch_add(n_opening, 1);
        if (atomic_load(n_forking) <= own.n_forking)
                return true;
        atomic_fetch_sub(n_opening, 1);
        return false;
}

/* A thread that has seen a fork does not try again until the fork is over: if many kept trying, one
 * of them would be counted at any moment. */
void dn__fork_hold_off(void)
{
        uint64_t until_us;

        (void)dn__fork_init();
        find_own();
        if (own.n_opening++ > 0 || begin_opening())
                return;
        until_us = dn__clock_after_us(TIMEOUT_US);
        while (!is_too_late(until_us))
                if (atomic_load(n_forking) <= own.n_forking && begin_opening())
                        return;
        atomic_fetch_add(n_opening, 1);
}

/* A child that was forked by a signal handler meanwhile has nothing to let go of. */
void dn__fork_let_go(void)
{
        find_own();
        if (own.n_opening > 0 && --own.n_opening == 0)
                atomic_fetch_sub(n_opening, 1);
}

static void fork_begins(void)
{
        uint64_t until_us = dn__clock_after_us(TIMEOUT_US);

        find_own();
        own.n_forking++;
        atomic_fetch_add(n_forking, 1);
        while (atomic_load(n_opening) > (own.n_opening > 0) && !is_too_late(until_us))
                continue;
}

static void fork_is_over(void)
{
        own.n_forking--;
        atomic_fetch_sub(n_forking, 1);
}

static int init_result = -ENOMEM;

static void init_once(void)
{
        if (sysconf(_SC_PAGESIZE) <= PAGE_BYTES &&
            madvise(dn__fork_own_id, sizeof(dn__fork_own_id), MADV_WIPEONFORK) == 0 &&
            pthread_atfork(fork_begins, fork_is_over, dn__fork_leave_parent) == 0)
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

dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *place,
                                     dn__per_process *(*make)(void *context),
                                     void (*discard)(dn__per_process *made), void *context)
{
        dn__per_process *found = atomic_load_explicit(place, memory_order_acquire), *made;

        while (!found || found->fork_id != dn__fork_id()) {
                if (!found && dn__fork_init() < 0)
                        return NULL;
                /* A child made without fork handlers starts here. */
                if (found)
                        dn__fork_leave_parent();
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
