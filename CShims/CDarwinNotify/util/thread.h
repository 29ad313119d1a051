/* Threads of the library: named, detached, with every signal left to the host's threads, but for
 * faults of the thread itself: the host's handler of a crash sees those of callbacks too. */
#pragma once

/* Starts a thread. `name` has at most 15 bytes. Returns 0, or -ENOMEM when no thread can be had. */
int dn__thread_start(const char *name, void (*run)(void *context), void *context);
