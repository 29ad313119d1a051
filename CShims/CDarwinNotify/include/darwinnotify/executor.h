/* Where callbacks run. */
#ifndef DARWINNOTIFY_EXECUTOR_H
#define DARWINNOTIFY_EXECUTOR_H

#include "base.h"

DN_BEGIN_DECLS

/** A function that an executor runs once, with the `argument` it was enqueued with. */
typedef void (*dn_work_fn)(void *argument);

/**
 * Runs work later, in order, on a thread of its choice.
 *
 * `enqueue` queues one piece of work and returns immediately: 0, or a negative errno if the work
 * will never run. It must not run the work before it returns. Accepted work runs exactly once, in
 * the order of the calls. The host's queue may run work on several threads concurrently: the
 * observers of one name still run one after the other.
 *
 * The structure is borrowed during the call that it is passed to. If the library keeps a copy, it
 * calls `retain` with the context before that call returns, and `release` once it enqueues nothing
 * more, perhaps at the end of the last work. Both may be NULL, for a context that is never freed. A
 * structure without `enqueue` is rejected with -EINVAL. Two with the same `enqueue` and `context`
 * are the same executor.
 */
typedef struct dn_executor {
        int (*enqueue)(void *context, dn_work_fn work, void *argument);
        void *context;
        void (*retain)(void *context);
        void (*release)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_executor;

/**
 * Returns the executor that runs callbacks on one private thread of the library, `dn-delivery`.
 * Always the same pointer, never NULL.
 *
 * It is the default wherever an executor is optional, unless dn_center_set_executor() has set
 * another one for the observers and tokens of a center. The thread starts with the first
 * registration, blocks all signals except those of its own faults (SIGSEGV and the like), and is
 * shared by all centers. A callback may block; it then delays only others of this executor.
 *
 * Threads:  any.
 * Apple:    stands in for the main run loop, which a C program on Linux does not have.
 */
DN_EXPORT const dn_executor *dn_executor_delivery_thread(void);

/**
 * Returns the executor that runs callbacks on the thread that other processes wake, `dn-direct`.
 * Always the same pointer, never NULL.
 *
 * The lowest latency. A callback must not block: while it runs, the process hears of no other post
 * through shared memory. On the distributed center, which only its bus wakes, it means the thread
 * that reads the bus, `dn-service`: nothing is read while a callback runs.
 *
 * Threads:  any.
 */
DN_EXPORT const dn_executor *dn_executor_inline(void);

DN_END_DECLS

#endif
