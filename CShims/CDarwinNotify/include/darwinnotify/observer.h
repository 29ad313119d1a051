/* The full form of registration: observers with a context, an executor, a handle. */
#ifndef DARWINNOTIFY_OBSERVER_H
#define DARWINNOTIFY_OBSERVER_H

#include <stdbool.h>

#include "base.h"
#include "center.h"
#include "executor.h"

DN_BEGIN_DECLS

/** One registration. Opaque, reference-counted. */
typedef struct dn_observer dn_observer;

/** The process behind an event or a request. Borrowed, with all it points to, as that is. */
typedef struct dn_sender {
        const char *name; /**< of its connection, such as ":1.42", which no later connection gets;
                               NULL: the event did not arrive over a bus */
        uint32_t user;    /**< its effective user ID; UINT32_MAX: not known */
        int32_t process;  /**< its process ID; 0: not known */
        bool is_own;      /**< this process, through the same center */
} dn_sender;

/** Describes a notification. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_event {
        dn_center *center;
        const char *name;         /**< NUL-terminated UTF-8 */
        const void *object;       /**< local center: as posted; Darwin center: NULL; distributed
                                       center: NUL-terminated UTF-8, or NULL */
        const dn_dict *user_info; /**< as posted, or NULL; Darwin center: NULL */
        uint64_t n_posts;         /**< how many posts this call stands for, 1 or more: see the
                                       function that registered the observer */
        uint64_t n_dropped;       /**< distributed center, and observers of a prefix on any center:
                                       how many posts, with any object, are known to be missing
                                       between the previous call and this one: there was no room
                                       for them, or (distributed center) the bus has dropped them;
                                       otherwise 0 */
        bool may_have_missed;     /**< distributed center: the bus was lost since the previous call,
                                       so an unknown number of posts may be missing */
        const dn_sender *sender;  /**< the poster, or NULL if unknown. It is unknown for counted
                                       posts of other processes and for events of more than one
                                       post; rarely, an observer of a prefix also gets NULL for a
                                       post of this process, if another process posts the name at
                                       the same moment. For other processes only `name` is set. */
} dn_event;

/** Selects the posts that an observer gets. All zero: every post. */
typedef struct dn_filter {
        const char *name;   /**< this name; NULL: see `prefix` */
        const char *prefix; /**< names that begin with these whole characters; NULL: every name.
                                 NULL where `name` is set, and on the local center. */
        const void *object; /**< as in dn_center_add_observer(); NULL: any object */
        int behavior;       /**< a DN_SUSPENSION_ value; 0 is DN_SUSPENSION_COALESCE */
        uint64_t reserved[2]; /**< 0 */
} dn_filter;

/**
 * A callback, its context, and a hook that destroys the context.
 *
 * The contract, for every function that takes one:
 *
 *  1. The function takes ownership of `context`, even if it fails.
 *  2. `destroy` (may be NULL) runs exactly once, after the last `invoke` has returned.
 *  3. Neither runs while the library holds a lock; both may call any function of the library,
 *     including one that cancels their own observer.
 *  4. The invocations of one observer never overlap, and the observers of one name on one
 *     executor run in registration order, before those of a prefix or of all names. (The local
 *     center runs on the posters' threads: there posts from several threads overlap, and a post
 *     from inside a callback nests.)
 *  5. The arguments of `invoke` are borrowed until it returns.
 *  6. Once dn_observer_cancel() has returned on the observer's own executor, no invocation follows;
 *     on any other thread, at most one that is already running completes.
 *     dn_observer_cancel_wait() returns when that one and `destroy` have ended.
 *  7. An observer that is cancelled during a delivery, before its turn, is not invoked. One that
 *     is added during a delivery is not invoked for the post being delivered.
 *  8. `invoke` must return. If it ends the thread instead, by pthread_exit() or because it has
 *     enabled cancellation, the library prints a line on standard error and aborts.
 *  9. Once exit() has begun or main() has returned, no `invoke` starts. The exit handler, which
 *     the first use of a center registers, waits at most a second for running invocations. A
 *     language runtime that ends earlier has to call dn_shutdown() first.
 * 10. On a thread of the library all signals are blocked, except those for its own faults. A
 *     program that a callback starts inherits this and would ignore SIGTERM. Therefore, after
 *     sigemptyset(&none) and posix_spawnattr_init(&attributes):
 *
 *         posix_spawnattr_setsigmask(&attributes, &none);
 *         posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
 *
 * `destroy` runs on the thread that cancels or, if an invocation is running, on its thread. A child
 * that is forked inside a callback has to call exec or _exit(). Any other forked child has no
 * observers; it may cancel and unreference its parent's handles, which does nothing.
 */
typedef struct dn_handler {
        void (*invoke)(const dn_event *event, void *context);
        void *context;
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_handler;

/**
 * Registers a handler for a name. Once this has returned, posts by any process reach the handler.
 *
 * On the Darwin center an event stands for one post; if more than 16 are waiting, the last of these
 * events stands for all the others. On the other centers an event stands for one post, except after
 * a suspension.
 *
 * On the inline executor's own thread this does not wait for the bus: until the bus has confirmed
 * the rule, posts by other D-Bus programs may be missed.
 *
 * @param center        borrowed.
 * @param name          as in dn_center_add_observer(); copied.
 * @param handler       `invoke` must be set; its context is consumed, also on failure.
 * @param executor      borrowed during the call, then retained; NULL stands for the center's,
 *                      see dn_center_set_executor(). Must be NULL for the local center.
 * @param ret_observer  set on success, before the first invocation; the caller owns one reference.
 *                      NULL: the observer lives as long as the center.
 *
 * Errors:   -EINVAL if `center`, `handler->invoke` or `executor->enqueue` is NULL, `name` is
 *           malformed or NULL, or an executor was given for the local center; others as in
 *           dn_center_add_observer(). DN_NOT_CONNECTED: registered, see error.h.
 * Threads:  any. On a bus that does not answer it returns within a second.
 * Apple:    CFNotificationCenterAddObserver(), notify_register_dispatch().
 */
DN_EXPORT int dn_center_observe(dn_center *center, const char *name, const dn_handler *handler,
                                const dn_executor *executor, dn_observer **ret_observer);

/**
 * Registers a handler for the posts that fit a filter, on any center.
 *
 * Otherwise as dn_center_observe().
 *
 * @param filter  borrowed; its texts are copied.
 *
 * Errors:   -EINVAL also if `filter` is NULL, has both a name and a prefix, a prefix or an object
 *           that is not valid UTF-8, or a prefix on the local center; -E2BIG if its object is
 *           longer than DN_OBJECT_MAX_BYTES.
 * Threads:  any.
 * Apple:    CFNotificationCenterAddObserver() with all of its arguments.
 */
DN_EXPORT int dn_center_observe_filtered(dn_center *center, const dn_filter *filter,
                                         const dn_handler *handler, const dn_executor *executor,
                                         dn_observer **ret_observer);

/**
 * Registers a handler for all names that begin with a prefix, on the Darwin or the distributed
 * center; the event has the name that was posted.
 *
 * Names that a process of this user has registered are heard through the table, with or without a
 * bus. For all other posts the bus delivers every signal to this process; a signal that it drops is
 * lost, and on the Darwin center not counted. Names that the caller could not observe by themselves
 * are left out. An event stands for one post, or for all posts of a name that were found in the
 * table together. Events are queued, never merged. If there is no room for more, the oldest are
 * dropped, and dn_event.n_dropped counts their posts.
 *
 * @param prefix  whole characters, at most DN_NAME_MAX_BYTES bytes; empty: every name.
 *
 * Otherwise as dn_center_observe().
 *
 * Errors:   -EINVAL also if `prefix` is NULL.
 * Threads:  any.
 */
DN_EXPORT int dn_center_observe_prefix(dn_center *center, const char *prefix,
                                       const dn_handler *handler, const dn_executor *executor,
                                       dn_observer **ret_observer);

/**
 * A callback for the state of a center's bus, its context, and a hook that destroys the context.
 * The contract is that of dn_handler.
 */
typedef struct dn_bus_handler {
        /** `is_on_bus`: the bus was found, or was there from the beginning. */
        void (*invoke)(dn_center *center, bool is_on_bus, void *context);
        void *context;
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_bus_handler;

/**
 * Registers a handler that is called with the current state of the bus, then whenever the bus is
 * found or lost.
 *
 * Each call after the first reports the opposite of the one before. Only if more than 16 calls are
 * waiting, because a callback blocks, are they merged into the last one. While there is no bus, the
 * processes of the user that use this library still hear each other; posts of other programs on the
 * bus are missed.
 *
 * The parameters are those of dn_center_observe().
 *
 * Errors:   -EINVAL if `center`, `handler->invoke` or `executor->enqueue` is NULL, or `center` is
 *           the local center; -ENOMEM; -EAGAIN if a thread cannot be started.
 * Threads:  any. The first use in a process waits for the connection, for at most a second.
 * Apple:    none; its daemon is always there.
 */
DN_EXPORT int dn_center_observe_bus(dn_center *center, const dn_bus_handler *handler,
                                    const dn_executor *executor, dn_observer **ret_observer);

/** Who owns a name on a bus. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_owner {
        dn_center *center;
        const char *name;       /**< as it was given */
        const char *connection; /**< of the owner, such as ":1.42"; NULL: nobody owns the name, or
                                     that is not known */
        bool is_on_bus;         /**< false: there is no bus at present, so no owner is known */
} dn_owner;

/**
 * A callback for the owner of a name, its context, and a hook that destroys the context. The
 * contract is that of dn_handler.
 */
typedef struct dn_owner_handler {
        void (*invoke)(const dn_owner *owner, void *context);
        void *context;
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_owner_handler;

/**
 * Registers a handler that is called with the present owner of a name, such as that of a service,
 * then whenever it changes.
 *
 * The first call comes once the bus has answered or turns out to be missing. No later change is
 * left out: each call reports another connection, nobody, or the loss of the bus. If the owner
 * hands over the name, the next call reports the new owner. A service that the bus would start on
 * demand has no owner until it runs. Without a bus (`none`), the first call is the only one.
 *
 * @param name      a well-known bus name, such as "org.example.Player"; copied.
 * @param handler   `invoke` must be set; its context is consumed, also on failure.
 *
 * The other parameters are those of dn_center_observe().
 *
 * Errors:   -EINVAL if an argument is NULL or malformed, or `center` has no calls: see
 *           dn_call_begin(); -ENOMEM; -EAGAIN if a thread cannot be started.
 * Threads:  any. The first use in a process waits for the connection, for at most a second.
 * Apple:    none.
 */
DN_EXPORT int dn_center_observe_owner(dn_center *center, const char *name,
                                      const dn_owner_handler *handler,
                                      const dn_executor *executor,
                                      dn_observer **ret_observer) DN_NEEDS_BUS;

/**
 * Replaces the handler of an observer: each post goes to exactly one of the two.
 *
 * On the same executor the new observer takes over the posts that the old one has not been invoked
 * for, and its position in the order. On another executor these posts may be merged; where posts
 * are queued and never merged, the new observer learns only that it may have missed some. An
 * invocation of the old handler that is already running may overlap one of the new handler.
 *
 * @param observer      borrowed; cancelled on success. The call is refused if it already was.
 *
 * The other parameters are those of dn_center_observe().
 *
 * Errors:   -EINVAL if `observer`, `handler->invoke` or `executor->enqueue` is NULL, the observer
 *           is cancelled or comes from dn_center_observe_bus() or dn_center_observe_owner(), or an
 *           executor was given for the local center; -ENOMEM; -EAGAIN if a thread cannot be
 *           started.
 * Threads:  any.
 */
DN_EXPORT int dn_observer_replace(dn_observer *observer, const dn_handler *handler,
                                  const dn_executor *executor, dn_observer **ret_observer);

/**
 * Ends a registration (contract, 6 and 7), unless it is NULL or has ended. The handle stays valid
 * until it is unreferenced.
 *
 * Threads:  any.
 * Apple:    notify_cancel(); CFNotificationCenterRemoveObserver().
 */
DN_EXPORT void dn_observer_cancel(dn_observer *observer);

/**
 * Ends a registration, and waits until no invocation of it is running and `destroy` has ended. A
 * call from inside one of them waits neither for that one nor for what must follow it. NULL is
 * allowed. Do not hold a lock that the callback or `destroy` takes. Two callbacks of one observer
 * of the local center must not wait for each other on two threads.
 *
 * Threads:  any.
 */
DN_EXPORT void dn_observer_cancel_wait(dn_observer *observer);

/** Adds a reference. NULL is allowed. Returns `observer`. Threads: any. */
DN_EXPORT dn_observer *dn_observer_ref(dn_observer *observer);

/** Releases a reference without cancelling: an observer without references stays registered. NULL
 *  is allowed. Returns NULL. Threads: any. */
DN_EXPORT dn_observer *dn_observer_unref(dn_observer *observer);

DN_END_DECLS

#endif
