/* Creates the library's threads: named, detached, with every signal left to the host's threads
 * except faults of the thread itself: the host's crash handler also sees faults in callbacks. */
#pragma once

#include <pthread.h>

/* Starts a thread, which must be joined or detached. `name` has at most 15 bytes. Returns 0, or
 * -ENOMEM if no thread can be created. */
int dn__thread_start(const char *name, void (*run)(void *context), void *context,
                     pthread_t *ret_thread);
