/* Cleanup attributes: release what a variable owns at the end of its block, however it is left.
 *
 * DN__TAKE() passes ownership on beyond the block. Cleanups do not run when the thread is
 * cancelled. */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include "util/lock.h"

/* Clang up to 18 reports a variable that is only cleaned up as unused. */
#define DN__CLEANUP(function) __attribute__((cleanup(function), unused))

/* char *text DN__FREES = malloc(...); NULL is allowed. */
#define DN__FREES DN__CLEANUP(dn__cleanup_memory)

/* int fd DN__CLOSES = open(...); a negative one is allowed. */
#define DN__CLOSES DN__CLEANUP(dn__cleanup_descriptor)

/* Takes ownership out of a variable with a cleanup. */
#define DN__TAKE(pointer)                                                                          \
        ({                                                                                         \
                __typeof__(pointer) taken_ = (pointer);                                            \
                (pointer) = NULL;                                                                  \
                taken_;                                                                            \
        })

#define DN__TAKE_DESCRIPTOR(fd)                                                                    \
        ({                                                                                         \
                int taken_ = (fd);                                                                 \
                (fd) = -1;                                                                         \
                taken_;                                                                            \
        })

/* DN__AUTO_LOCK(&object->lock); locks it until the end of the function. (The end of an inner block
 * would also release it, but clang would still consider it locked.) */
#define DN__AUTO_LOCK(lock)                                                                        \
        dn__lock *const DN__JOIN_(locked_, __LINE__) DN__CLEANUP(dn__cleanup_release) =            \
                dn__cleanup_acquire(lock);                                                         \
        dn__cleanup_assert_locked(lock)
#define DN__JOIN_(a, b) DN__JOIN_NOW_(a, b)
#define DN__JOIN_NOW_(a, b) a##b

static inline void dn__cleanup_memory(void *pointer)
{
        free(*(void **)pointer);
}

static inline void dn__cleanup_descriptor(const int *fd)
{
        if (*fd >= 0)
                (void)close(*fd);
}

/* The analysis cannot see that the variable is an alias of the lock: the annotations state only the
 * effect of these two functions. */
static inline dn__lock *dn__cleanup_acquire(dn__lock *lock) DN__TSA(no_thread_safety_analysis)
{
        dn__lock_acquire(lock);
        return lock;
}

static inline void dn__cleanup_release(dn__lock *const *lock) DN__TSA(no_thread_safety_analysis)
{
        dn__lock_release(*lock);
}

static inline void dn__cleanup_assert_locked(const dn__lock *lock)
        DN__TSA(assert_capability(lock))
{
        (void)lock;
}
