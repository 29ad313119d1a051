/* A mutex checked by the compiler: clang rejects access to a guarded field without its lock. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "util/clock.h"

#if defined(__clang__) && __clang_major__ >= 19 /* older ones know only what is declared before */
#define DN__TSA(attribute) __attribute__((attribute))
#else
#define DN__TSA(attribute)
#endif

#define DN__GUARDED_BY(lock) DN__TSA(guarded_by(lock))
#define DN__REQUIRES(lock) DN__TSA(requires_capability(lock))
#define DN__ACQUIRES(lock) DN__TSA(acquire_capability(lock))
#define DN__RELEASES(lock) DN__TSA(release_capability(lock))

typedef struct DN__TSA(capability("mutex")) dn__lock {
        pthread_mutex_t mutex;
} dn__lock;

typedef struct dn__condition {
        pthread_cond_t condition;
} dn__condition;

static inline void dn__lock_init(dn__lock *lock)
{
        (void)pthread_mutex_init(&lock->mutex, NULL); /* default attributes: cannot fail */
}

static inline void dn__lock_deinit(dn__lock *lock)
{
        (void)pthread_mutex_destroy(&lock->mutex);
}

static inline void dn__lock_acquire(dn__lock *lock) DN__ACQUIRES(lock)
        DN__TSA(no_thread_safety_analysis)
{
        (void)pthread_mutex_lock(&lock->mutex);
}

static inline void dn__lock_release(dn__lock *lock) DN__RELEASES(lock)
        DN__TSA(no_thread_safety_analysis)
{
        (void)pthread_mutex_unlock(&lock->mutex);
}

static inline void dn__condition_init(dn__condition *condition)
{
        pthread_condattr_t attributes;

        (void)pthread_condattr_init(&attributes);
        (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&condition->condition, &attributes);
        (void)pthread_condattr_destroy(&attributes);
}

static inline void dn__condition_deinit(dn__condition *condition)
{
        (void)pthread_cond_destroy(&condition->condition);
}

static inline void dn__condition_broadcast(dn__condition *condition)
{
        (void)pthread_cond_broadcast(&condition->condition);
}

/* Returns 0 after a wake-up, which may be spurious, or -ETIMEDOUT. Setting the wall clock does not
 * move the deadline. */
static inline int dn__condition_wait(dn__condition *condition, dn__lock *lock, uint64_t deadline_us)
        DN__REQUIRES(lock)
{
        struct timespec until = dn__clock_timespec(deadline_us);

        if (deadline_us == DN__NEVER)
                return -pthread_cond_wait(&condition->condition, &lock->mutex);
        return -pthread_cond_timedwait(&condition->condition, &lock->mutex, &until);
}
