/* Creates the library's threads: named, with every signal left to the host's threads except faults
 * of the thread itself: the host's crash handler also sees faults in callbacks.
 *
 * Nobody waits for a thread that ends, until all of them are joined. When the process exits, those
 * that have ended are joined; those that end later need not be. */
#pragma once

#include <stdbool.h>

/* Starts a thread. `name` has at most 15 bytes. Returns 0, or -ENOMEM if no thread can be
 * created. */
int dn__thread_start(const char *name, void (*run)(void *context), void *context);

/* Returns whether the caller is one of the library's threads. */
bool dn__thread_is_ours(void);

/* Returns when all threads have ended, and frees what is known of them. Any other thread, while
 * none is started. */
void dn__thread_join_all(void);
