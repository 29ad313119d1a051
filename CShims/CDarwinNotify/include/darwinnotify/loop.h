/* Delivery in an event loop of the host: poll, epoll, GLib, Qt, sd-event. */
#ifndef DARWINNOTIFY_LOOP_H
#define DARWINNOTIFY_LOOP_H

#include "base.h"
#include "executor.h"

DN_BEGIN_DECLS

/** A queue of callbacks with a descriptor that says when it has something. Opaque. It belongs to
 *  the process that made it: a forked child makes one of its own, and lets this one be. */
typedef struct dn_loop dn_loop;

/**
 * Makes a queue for an event loop.
 *
 * @param ret_loop  set on success only; owned, close it with dn_loop_close().
 *
 * Errors:   -EINVAL if `ret_loop` is NULL; -ENOMEM if memory or a descriptor cannot be had.
 * Threads:  any.
 * Apple:    none; delivery there is bound to a CFRunLoop.
 */
DN_EXPORT int dn_loop_new(dn_loop **ret_loop);

/**
 * Returns the descriptor to wait for: readable (POLLIN, level-triggered) while callbacks wait.
 *
 * Borrowed until dn_loop_close(); close-on-exec; not to be read from.
 *
 * Errors:   -EINVAL if `loop` is NULL.
 * Threads:  any.
 */
DN_EXPORT int dn_loop_get_fd(dn_loop *loop);

/**
 * Runs the callbacks that are waiting now, on the calling thread, and returns how many pieces of
 * work it ran (0 or more). Those that are added meanwhile wait for the next call.
 *
 * In a forked child nothing runs, and 0 is returned: what waits belongs to the parent.
 *
 * Errors:   -EINVAL if `loop` is NULL.
 * Threads:  the owner of the loop only; not from inside one of its callbacks.
 * Apple:    CFRunLoopRunInMode(), for what is waiting.
 */
DN_EXPORT int dn_loop_process(dn_loop *loop);

/**
 * Returns the executor that enqueues to this loop, for dn_center_observe() or
 * dn_center_set_executor(). Every value is to be handed to the library once, which consumes it.
 *
 * @param loop  borrowed; not NULL.
 *
 * Threads:  any.
 */
DN_EXPORT dn_executor dn_loop_executor(dn_loop *loop);

/**
 * Closes the loop: runs what is waiting, then refuses what comes later. Cancel the observers
 * before, if their callbacks must not run here any more.
 *
 * @param loop  consumed; NULL is allowed.
 * @return NULL.
 *
 * Threads:  the owner of the loop only.
 */
DN_EXPORT dn_loop *dn_loop_close(dn_loop *loop);

DN_END_DECLS

#endif
