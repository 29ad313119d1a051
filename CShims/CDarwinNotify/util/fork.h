/* Separates a forked child from its parent. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"
#include "util/lock.h"

/* Starts fork detection; idempotent. Returns 0 or -ENOMEM. */
int dn__fork_init(void);

extern _Atomic uint64_t dn__fork_own_id;

/* Returns an ID, never 0, that stays the same throughout one process and differs in its forked
 * children, once dn__fork_init() has been called. Async-signal-safe; one load. */
static inline uint64_t dn__fork_id(void)
{
        return atomic_load(&dn__fork_own_id);
}

/* A descriptor that a forked child must not keep open: it would keep a bus connection, or a lock on
 * an open file description, alive after the parent's death. The child closes it when it starts. A
 * fork between the opening and the guarding leaves it open; O_CLOEXEC closes it at an exec. */
typedef struct dn__fork_guard dn__fork_guard;

/* Returns NULL if out of memory: the descriptor is then unguarded. The other functions accept
 * NULL. */
dn__fork_guard *dn__fork_guard_new(int fd);

/* Updates the guarded descriptor, which may have the same number as before. */
void dn__fork_guard_set(dn__fork_guard *guard, int fd);

/* Does the work of the fork handlers in a child that was made without them. Does nothing
 * elsewhere. Async-signal-safe. */
void dn__fork_leave_parent(void);

/* Returns whether the number still is that of the guarded file: the host may close descriptors that
 * it does not know, and open others. True if it is unguarded. */
bool dn__fork_guard_is_intact(const dn__fork_guard *guard);

/* Returns NULL. */
dn__fork_guard *dn__fork_guard_free(dn__fork_guard *guard);

/* As dn__fork_guard_free(), and closes the descriptor if it still is the guarded one. */
dn__fork_guard *dn__fork_guard_close(dn__fork_guard *guard, int fd);

/* Frees all guards, when no descriptor is guarded any more. */
void dn__fork_guards_free(void);

/* The first member of per-process state. A forked child finds its parent's state, whose locks may
 * be held by threads that do not exist in the child: it leaves that alone and creates its own. */
typedef struct dn__per_process {
        uint64_t fork_id;
        struct dn__per_process *parents; /* never dereferenced; for leak checkers */
} dn__per_process;

/* Returns this process's state, creating it if needed; NULL if `make` returns NULL. If two threads
 * create it at once, `discard` is called for one of the copies. */
dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *variable,
                                     dn__per_process *(*make)(void *context),
                                     void (*discard)(dn__per_process *made), void *context);

/* Returns this process's state, or NULL. Async-signal-safe. */
static inline void *dn__per_process_find(_Atomic(dn__per_process *) *variable)
{
        dn__per_process *found = atomic_load(variable);

        return found && found->fork_id == dn__fork_id() ? found : NULL;
}

/* Removes this process's state so that the next call creates another, and returns it or NULL. Only
 * while nobody else uses it. */
void *dn__per_process_take(_Atomic(dn__per_process *) *variable);

/* Returns this process's state, whose first member is a dn__per_process. If it is made now, it has
 * `n_bytes` of zeros, and `init` was called. NULL if out of memory. */
void *dn__process_state_get(_Atomic(dn__per_process *) *variable, size_t n_bytes,
                            void (*init)(void *state));

/* State that is a locked list. */
typedef struct dn__process_list {
        dn__per_process process;
        dn__lock lock;
        dn__link head DN__GUARDED_BY(&lock);
} dn__process_list;

dn__process_list *dn__process_list_get(_Atomic(dn__per_process *) *variable);
