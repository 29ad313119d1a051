/* Where callbacks run. */
#ifndef DARWINNOTIFY_EXECUTOR_H
#define DARWINNOTIFY_EXECUTOR_H

#include "base.h"

DN_BEGIN_DECLS

/** A piece of work that an executor runs once, with the `argument` it was enqueued with. */
typedef void (*dn_work_fn)(void *argument);

/**
 * Runs work later, in order, on a thread of its choice.
 *
 * `enqueue` hands over one piece of work and returns at once: 0, or a negative errno if the work
 * will never run. It must not run the work itself before it returns. What it accepted it runs
 * exactly once, in the order of the calls. A host queue that runs work on several threads at a
 * time is allowed: the observers of one name still run one after the other.
 *
 * `destroy` (may be NULL) is called once for every executor value that was handed to the library,
 * when it enqueues nothing more to it: perhaps from inside the last work, as the last thing that
 * does. A value without `enqueue` is refused with -EINVAL, and destroyed.
 *
 * Two values with the same `enqueue` and `context` are the same executor: observers of one name
 * on one executor run in registration order.
 */
typedef struct dn_executor {
        int (*enqueue)(void *context, dn_work_fn work, void *argument);
        void *context;
        void (*destroy)(void *context);
} dn_executor;

/**
 * Returns the executor that runs callbacks on one private thread of the library, `dn-delivery`.
 *
 * It is the default wherever an executor may be left out. The thread starts with the first work,
 * has all signals blocked but those of its own faults (SIGSEGV and the like), and is shared by all
 * centers. A callback may block; it then delays the other callbacks of this executor, and nothing
 * else.
 *
 * Threads:  any.
 * Apple:    takes the place of the main run loop, which a C program on Linux does not have.
 */
DN_EXPORT dn_executor dn_executor_delivery_thread(void);

/**
 * Returns the executor that runs callbacks on the service thread that reads the bus, `dn-service`.
 *
 * The lowest latency. A callback must not block: while it runs, the process does not read the
 * bus. From inside such a callback, adding an observer does not wait for the bus (see
 * dn_center_observe()).
 *
 * Threads:  any.
 */
DN_EXPORT dn_executor dn_executor_inline(void);

DN_END_DECLS

#endif
