/* Keeping a forked child apart from its parent. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Starts telling forks apart; idempotent. Returns 0 or -ENOMEM. */
int dn__fork_init(void);

/* Where the number of the process is; 0 in a child that has not been asked yet. */
extern _Atomic uint64_t *dn__fork_own_id;

/* Draws the number of a child. */
uint64_t dn__fork_draw_id(void);

/* Returns a number that is the same in one process at all times and another one in its forked
 * children, from their first instruction on. After dn__fork_init(). Async-signal-safe; one load. */
static inline uint64_t dn__fork_id(void)
{
        uint64_t id = atomic_load_explicit(dn__fork_own_id, memory_order_relaxed);

        return id ? id : dn__fork_draw_id();
}

/* A descriptor that a forked child must not keep open: a bus connection would outlive the parent,
 * a lock on an open file description too. The child closes it when it starts. */
typedef struct dn__fork_guard dn__fork_guard;

/* Returns NULL, which the other functions accept, if memory cannot be had: then it is not
 * guarded. */
dn__fork_guard *dn__fork_guard_new(int fd);

/* The descriptor has become another one, perhaps under the same number. */
void dn__fork_guard_set(dn__fork_guard *guard, int fd);

/* To be called before the descriptor is closed. Returns NULL. */
dn__fork_guard *dn__fork_guard_free(dn__fork_guard *guard);

/* The first member of what a process has one of. A forked child finds its parent's, whose locks
 * may be held by threads that the child does not have: it leaves that alone, and makes its own. */
typedef struct dn__per_process {
        uint64_t fork_id;
        struct dn__per_process *parents; /* not to be touched; here a leak checker finds it */
} dn__per_process;

/* Returns the one of this process, making it if need be; or NULL, if `make` returns that. Where
 * two threads make one at a time, `unmake` is called for one of them. */
dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *place,
                                     dn__per_process *(*make)(void *context),
                                     void (*unmake)(dn__per_process *made), void *context);
