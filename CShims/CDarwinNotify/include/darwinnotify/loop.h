/* Delivery in an event loop of the host: poll, epoll, GLib, Qt, sd-event. */
#ifndef DARWINNOTIFY_LOOP_H
#define DARWINNOTIFY_LOOP_H

#include "base.h"
#include "executor.h"

DN_BEGIN_DECLS

/** A queue of callbacks with a descriptor that is readable while any are waiting. Opaque. It
 *  belongs to the process that made it: a forked child makes its own and leaves this one alone. */
typedef struct dn_loop dn_loop;

/**
 * Makes a queue for an event loop.
 *
 * @param ret_loop  set on success only; owned, close it with dn_loop_close().
 *
 * Errors:   -EINVAL if `ret_loop` is NULL; -ENOMEM.
 * Threads:  any.
 * Apple:    none; delivery there is bound to a CFRunLoop.
 */
DN_EXPORT int dn_loop_new(dn_loop **ret_loop);

/**
 * Returns the descriptor to wait for, borrowed: readable (POLLIN, level-triggered) while callbacks
 * wait. Do not read from it, and do not close it.
 *
 * Errors:   -EINVAL if `loop` is NULL.
 * Threads:  any.
 */
DN_EXPORT int dn_loop_get_fd(dn_loop *loop);

/**
 * Runs the callbacks that are waiting now, on the calling thread, and returns how many it ran.
 * Callbacks that are queued meanwhile wait for the next call. In a forked child none runs: they
 * belong to the parent.
 *
 * Errors:   -EINVAL if `loop` is NULL.
 * Threads:  the owner of the loop only; not from inside one of its callbacks.
 * Apple:    CFRunLoopRunInMode(), for what is waiting.
 */
DN_EXPORT int dn_loop_process(dn_loop *loop);

/**
 * Returns the executor that enqueues to this loop, borrowed until dn_loop_close(). Never NULL: for
 * NULL it returns an executor that every function refuses with -EINVAL.
 *
 * Threads:  any.
 */
DN_EXPORT const dn_executor *dn_loop_executor(dn_loop *loop);

/**
 * Closes the loop: runs the callbacks that are waiting and refuses later ones. Cancel the observers
 * first if their callbacks must not run here. NULL is allowed. Returns NULL.
 *
 * Threads:  the owner of the loop only; also in one of its callbacks.
 */
DN_EXPORT dn_loop *dn_loop_close(dn_loop *loop);

DN_END_DECLS

#endif
