/* Separates a forked child from its parent. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts fork detection; idempotent. Returns 0 or -ENOMEM. */
int dn__fork_init(void);

/* The process's ID; 0 in a child that has not asked for it yet. */
extern _Atomic uint64_t dn__fork_own_id[];

/* Assigns a child its ID. */
uint64_t dn__fork_draw_id(void);

/* Returns an ID that stays the same throughout one process and differs in its forked children from
 * their first instruction on, once dn__fork_init() has been called. Async-signal-safe; one load. */
static inline uint64_t dn__fork_id(void)
{
        uint64_t id = atomic_load_explicit(dn__fork_own_id, memory_order_relaxed);

        return id ? id : dn__fork_draw_id();
}

/* Bracket the opening of what a child must not inherit: fork() on another thread waits until the
 * end, but only for a limited time, so nothing can hang. Calls may be nested. */
void dn__fork_hold_off(void);
void dn__fork_let_go(void);

/* A descriptor that a forked child must not keep open: it would keep a bus connection, or a lock on
 * an open file description, alive after the parent's death. The child closes it when it starts. */
typedef struct dn__fork_guard dn__fork_guard;

/* Returns NULL if out of memory: the descriptor is then unguarded. The other functions accept
 * NULL. */
dn__fork_guard *dn__fork_guard_new(int fd);

/* Updates the guarded descriptor, which may have the same number as before. */
void dn__fork_guard_set(dn__fork_guard *guard, int fd);

/* Closes guarded descriptors that belong to the parent. A child made by fork() has done so on
 * starting, one made in another way does so when it first uses the library. Elsewhere it does
 * nothing. Async-signal-safe. */
void dn__fork_leave_parent(void);

/* Returns whether the descriptor still is the guarded one: the host may close descriptors that it
 * does not know, and open others with their numbers. True if it is unguarded. */
bool dn__fork_guard_is_intact(const dn__fork_guard *guard);

/* Call after closing the descriptor, while forks are held off. Returns NULL. */
dn__fork_guard *dn__fork_guard_free(dn__fork_guard *guard);

/* As dn__fork_guard_free(), and closes the descriptor if it still is the guarded one. */
dn__fork_guard *dn__fork_guard_close(dn__fork_guard *guard, int fd);

/* Frees all guards, when no descriptor is guarded any more. */
void dn__fork_guards_free(void);

/* The first member of per-process state. A forked child finds its parent's state, whose locks may
 * be held by threads that do not exist in the child: it leaves that alone and creates its own. */
typedef struct dn__per_process {
        uint64_t fork_id;
        struct dn__per_process *parents; /* never accessed; for leak checkers */
} dn__per_process;

/* Returns this process's state, creating it if needed; NULL if `make` returns NULL. If two threads
 * create it at once, `discard` is called for one of the copies. */
dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *place,
                                     dn__per_process *(*make)(void *context),
                                     void (*discard)(dn__per_process *made), void *context);

/* Returns this process's state, or NULL. */
dn__per_process *dn__per_process_find(_Atomic(dn__per_process *) *place);

/* Removes this process's state so that the next call creates another, and returns it or NULL. Only
 * while nobody else uses it. */
dn__per_process *dn__per_process_take(_Atomic(dn__per_process *) *place);
