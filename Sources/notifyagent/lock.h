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

/* Returns the process that has the lock at a path, or 0 if none has it. */
pid_t lock_get_holder(const char *path);

void lock_release(lock *lock);
