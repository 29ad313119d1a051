/* Creates the library's threads: named, with every signal left to the host's threads except faults
 * of the thread itself: the host's crash handler also sees faults in callbacks.
 *
 * A thread that has ended is joined when the next one starts, without waiting for it. */
#pragma once

#include <stdbool.h>

/* Starts a thread. `name` has at most 15 bytes. Returns 0, -ENOMEM, or -EAGAIN if there are too
 * many threads. */
int dn__thread_start(const char *name, void (*run)(void *context), void *context);

/* Whether the caller is one of the library's threads. */
extern _Thread_local bool dn__thread_is_ours;

/* Joins the threads that have ended. A thread that ends later is not joined. */
void dn__thread_at_exit(void);

/* Returns when all threads have ended, and frees their records. Call on any other thread, while
 * none is started. */
void dn__thread_join_all(void);
