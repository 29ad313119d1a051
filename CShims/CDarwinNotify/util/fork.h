/* Telling a forked child from its parent, and keeping the parent's descriptors out of it. */
#pragma once

#include <stdint.h>

#include "util/list.h"

/* A descriptor that a forked child must not keep open: a bus connection would outlive the parent,
 * a lock on an open file description too. */
typedef struct dn__fork_fd {
        dn__link link;
        int fd;
} dn__fork_fd;

/* Starts counting forks; idempotent. Returns 0 or -ENOMEM. */
int dn__fork_init(void);

/* Returns a number that is the same in one process at all times and another one in its forked
 * children. Async-signal-safe; one load. */
uint64_t dn__fork_id(void);

/* From here on until dn__fork_release() a forked child closes `fd` the moment it starts. */
void dn__fork_guard(dn__fork_fd *guard, int fd);
void dn__fork_release(dn__fork_fd *guard);

/* A lock that a forked child finds free, whatever the parent's other threads were doing: it is
 * held across fork(). For short walks over lists of the whole process. */
void dn__fork_lock_acquire(void);
void dn__fork_lock_release(void);
