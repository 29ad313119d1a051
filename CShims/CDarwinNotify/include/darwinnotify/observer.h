/* Observers with a context, an executor and a handle: the full form of registration. */
#ifndef DARWINNOTIFY_OBSERVER_H
#define DARWINNOTIFY_OBSERVER_H

#include "base.h"
#include "center.h"
#include "executor.h"

DN_BEGIN_DECLS

/** One registration. Opaque, reference-counted. */
typedef struct dn_observer dn_observer;

/** What a callback is told. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_event {
        dn_center *center;
        const char *name;         /**< NUL-terminated UTF-8 */
        const void *object;       /**< local center: as posted; Darwin center: NULL */
        const dn_dict *user_info; /**< local center: as posted; Darwin center: NULL */
        uint64_t n_posts;         /**< how many posts this call stands for, 1 or more */
} dn_event;

/**
 * A callback with its context and the end of that context: the three travel together.
 *
 * The contract, for every function that takes one:
 *
 *  1. The function takes over `context`, also when it fails.
 *  2. `destroy` (may be NULL) runs exactly once, after the last `invoke` has returned.
 *  3. Neither runs while the library holds a lock; both may call any function of the library,
 *     including the cancellation of themselves.
 *  4. The invocations of one observer never overlap, and the observers of one name on one
 *     executor run in registration order. (The local center runs on the posters' threads: there
 *     posts from several threads overlap, and a post from inside a callback nests.)
 *  5. What `invoke` is handed is borrowed until it returns.
 *  6. After dn_observer_cancel() has returned on the observer's own executor no invocation
 *     follows; after it has returned on another thread, at most one that was already running
 *     ends. dn_observer_cancel_wait() returns when that one has ended.
 *  7. An observer that is cancelled during a delivery, before its turn, is not invoked. One that
 *     is added during a delivery is not invoked for the post being delivered.
 *
 * A child that is forked inside a callback must not return from it: it has to exec or `_exit`. Any
 * other forked child has no observers; handles of its parent may be cancelled and unreferenced
 * there, which does nothing, and dn_observer_replace() refuses them.
 *
 * `destroy` runs on the thread that cancels, or, when an invocation is running, on the thread of
 * that invocation after it has returned.
 */
typedef struct dn_handler {
        void (*invoke)(const dn_event *event, void *context);
        void *context;
        void (*destroy)(void *context);
} dn_handler;

/**
 * Registers a handler for a name.
 *
 * Returns after the bus has confirmed the rule, so that a post by any process reaches the handler
 * from then on. On the inline executor's own thread it does not wait; posts by this library are
 * not missed there either, those by other D-Bus programs only until the bus has confirmed.
 *
 * @param center        borrowed.
 * @param name          as in dn_center_add_observer(); copied.
 * @param handler       `invoke` must be set; consumed, also on failure.
 * @param executor      copied, and consumed also on failure; NULL stands for the delivery
 *                      thread. Must be NULL for the local center.
 * @param ret_observer  set on success and with -ENOTCONN; the caller owns one reference. May be
 *                      NULL: the observer then lives as long as the center. It is set before the
 *                      first invocation.
 *
 * Errors:   -EINVAL if `center`, `handler.invoke` or `executor->enqueue` is NULL, `name` is
 *           malformed or NULL, or an executor was given for the local center; -ENAMETOOLONG;
 *           -EACCES if the name is `user.uid.N` or below and N is not the effective user; -ENOMEM;
 *           -ENOBUFS if the bus accepts no match rule at all; -ENOTCONN: registered, but without a
 *           bus.
 * Threads:  any. On a bus that does not answer it returns within a second.
 * Apple:    CFNotificationCenterAddObserver(), notify_register_dispatch().
 */
DN_EXPORT int dn_center_observe(dn_center *center, const char *name, dn_handler handler,
                                const dn_executor *executor, dn_observer **ret_observer);

/**
 * Registers a handler for an object, for every name, or both, on the local center.
 *
 * @param name    NULL for every name.
 * @param object  only posts with this very pointer; NULL for all.
 *
 * Otherwise as dn_center_observe().
 *
 * Errors:   -EINVAL also if `center` is not the local center.
 * Threads:  any.
 * Apple:    CFNotificationCenterAddObserver() with an object, or without a name.
 */
DN_EXPORT int dn_center_observe_object(dn_center *center, const char *name, const void *object,
                                       dn_handler handler, dn_observer **ret_observer);

/**
 * Puts another handler in the place of one that is registered: each post is handed to exactly one
 * of the two.
 *
 * The new observer takes over the posts that the old one has not been invoked for, and on the same
 * executor its place in the order. An invocation of the old handler that is already running ends
 * beside the new one.
 *
 * @param observer      borrowed; cancelled on success. If it was cancelled before, the call is
 *                      refused.
 * @param handler       consumed, also on failure.
 * @param executor      as in dn_center_observe().
 * @param ret_observer  set on success only; the caller owns one reference. May be NULL.
 *
 * Errors:   -EINVAL if `observer`, `handler.invoke` or `executor->enqueue` is NULL, the observer
 *           is cancelled, or an executor was given for the local center; -ENOMEM.
 * Threads:  any.
 * Apple:    none.
 */
DN_EXPORT int dn_observer_replace(dn_observer *observer, dn_handler handler,
                                  const dn_executor *executor, dn_observer **ret_observer);

/**
 * Ends a registration (contract, 6 and 7). The handle stays valid until it is unreferenced.
 *
 * @param observer  borrowed; NULL or cancelled already: nothing happens.
 *
 * Threads:  any.
 * Apple:    notify_cancel(); CFNotificationCenterRemoveObserver().
 */
DN_EXPORT void dn_observer_cancel(dn_observer *observer);

/**
 * Ends a registration and waits until no invocation of it is running any more.
 *
 * From inside the observer's own callback it does not wait for that very call. It waits for as
 * long as the callback runs: do not hold a lock that the callback takes, and do not let two
 * callbacks of one observer of the local center, on two threads, wait for each other.
 *
 * @param observer  borrowed; NULL: nothing happens.
 *
 * Threads:  any.
 */
DN_EXPORT void dn_observer_cancel_wait(dn_observer *observer);

/** Takes one more reference. NULL is allowed. Returns `observer`. Threads: any. */
DN_EXPORT dn_observer *dn_observer_ref(dn_observer *observer);

/**
 * Gives a reference back, without cancelling: an observer that nobody refers to goes on.
 *
 * @param observer  consumed; NULL is allowed.
 * @return NULL.
 *
 * Threads:  any.
 */
DN_EXPORT dn_observer *dn_observer_unref(dn_observer *observer);

DN_END_DECLS

#endif
