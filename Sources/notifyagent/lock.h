/* The lock beside the table: at most one agent holds it. */
#pragma once

#include <limits.h>
#include <sys/types.h>

typedef struct lock {
        int fd; /* -1: it is not held */
        char path[PATH_MAX];
} lock;

/* Writes the path of the lock of a table. Returns 0 or a negative errno, -ENOENT if there is no
 * table. */
int lock_find(char ret_path[PATH_MAX]);

/* Takes the lock of the table that is in use now, and releases one of another table. Returns 0;
 * -EBUSY if another agent has it; -ENOENT if there is no table; or another negative errno. */
int lock_take(lock *lock);

/* Finds the process that has the lock, 0 if none has it, without taking the lock. Returns 0;
 * -ENOENT if there is no table, or its lock was never taken; or another negative errno. */
int lock_probe(pid_t *ret_holder);

void lock_release(lock *lock);
