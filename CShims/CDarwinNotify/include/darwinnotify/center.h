/* Notification centers in the shape of CFNotificationCenter. */
#ifndef DARWINNOTIFY_CENTER_H
#define DARWINNOTIFY_CENTER_H

#include "base.h"
#include "dict.h"
#include "executor.h"

DN_BEGIN_DECLS

/** A notification center. Opaque. */
typedef struct dn_center dn_center;

/**
 * Receives each notification of an observer. All arguments are borrowed.
 *
 * @param observer   the pointer that was given at registration; never dereferenced by the library.
 * @param name       NUL-terminated UTF-8.
 * @param object     local center: the pointer that was posted. Distributed center: NUL-terminated
 *                   UTF-8, or NULL. Darwin center: NULL.
 * @param user_info  as posted, or NULL. Darwin center: NULL.
 *
 * Apple:  CFNotificationCallback.
 */
typedef void (*dn_callback_fn)(dn_center *center, void *observer, const char *name,
                               const void *object, const dn_dict *user_info);

/** What happens to the notifications of an observer while the distributed center is suspended. The
 *  other centers are never suspended and ignore this, as Apple's do. 0 and unknown values stand for
 *  DN_SUSPENSION_COALESCE. */
enum {
        DN_SUSPENSION_DROP = 1,     /**< they are not kept */
        DN_SUSPENSION_COALESCE = 2, /**< the last one of each name and object is kept */
        DN_SUSPENSION_HOLD = 3,     /**< they are kept, as long as there is room */
        DN_SUSPENSION_DELIVER_IMMEDIATELY = 4, /**< they are delivered, after all kept ones */
};

/** Options of dn_center_post(), a bit mask. The Darwin center ignores them, as Apple's does. */
enum {
        DN_POST_DELIVER_IMMEDIATELY = 1 << 0, /**< also to observers of a suspended center */
        DN_POST_TO_ALL_SESSIONS = 1 << 1,     /**< only marks the signal */
};

/* All centers stay valid in a forked child. Each starts afresh there: no observers, and its own
 * connection at its next use. */

/**
 * Returns the Darwin center, which sends names without a payload to every process on the same bus.
 *
 * Always the same pointer, never NULL; the caller owns nothing. It connects at its first use. The
 * environment variable DARWIN_NOTIFY_BUS selects the bus: `session` (the default:
 * DBUS_SESSION_BUS_ADDRESS, else $XDG_RUNTIME_DIR/bus), `system`, `none` (no bus: the user's
 * processes with `none` reach one another), or a D-Bus address; with any other value, functions
 * that use the center return -EINVAL. It is read when the center is opened, and ignored in a
 * set-user-id program.
 *
 * The processes of one user reach one another through shared memory, with or without a bus; the bus
 * shows each post to everybody else. A post may arrive late but is never lost: after the last post
 * of a name, each of its observers in all processes of the user runs at least once. An observer
 * gets up to 16 waiting posts one by one; further ones are merged into the last call. Observers in
 * the posting process also get the post, once and never inside dn_center_post().
 *
 * Threads:  any.
 * Apple:    CFNotificationCenterGetDarwinNotifyCenter(). Its scope is the machine; here it is one
 *           bus, that is one user (or the machine, with `system`). Callbacks run on the center's
 *           executor, not on a main run loop: see dn_center_set_executor().
 */
DN_EXPORT dn_center *dn_center_darwin(void);

/**
 * Returns the local center, which delivers inside the process, on the poster's thread, before the
 * post returns. Posts may nest, and several threads may post concurrently.
 *
 * Always the same pointer, never NULL; the caller owns nothing.
 *
 * Threads:  any.
 * Apple:    CFNotificationCenterGetLocalCenter().
 */
DN_EXPORT dn_center *dn_center_local(void);

/**
 * Opens another Darwin center with its own connection to a bus of the caller's choice.
 *
 * @param bus         `session`, `system`, `none` or a D-Bus address such as
 *                    `unix:path=/run/user/1000/bus`; borrowed until the call returns.
 * @param ret_center  set on success only; the caller owns one reference.
 *
 * Errors:   -EINVAL if an argument is NULL, or `bus` is none of these; -ENOMEM.
 * Threads:  any.
 */
DN_EXPORT int dn_center_open(const char *bus, dn_center **ret_center);

/**
 * Releases a reference of dn_center_open(); NULL and the shared centers are ignored. The center
 * closes when its last reference and its last observer are gone, after sending the posts that still
 * wait for the bus, for at most a second. Returns NULL.
 *
 * Threads:  any, but not from a callback of this center on the inline executor.
 */
DN_EXPORT dn_center *dn_center_unref(dn_center *center);

/**
 * Sets where the callbacks of later observers and tokens run if these name no executor. Observers
 * of dn_center_add_observer() never name one. Existing observers and tokens keep their executor.
 *
 * @param executor  borrowed during the call, then retained; NULL stands for the delivery thread.
 *
 * Errors:   -EINVAL if `center` or `executor->enqueue` is NULL, or it is the local center; -ENOMEM;
 *           -EAGAIN if the executor's thread cannot be started.
 * Threads:  any.
 * Apple:    none public; Windows has _CFNotificationCenterSetRunLoop().
 */
DN_EXPORT int dn_center_set_executor(dn_center *center, const dn_executor *executor);

/**
 * Runs work once on the thread where dn_executor_inline() runs the callbacks of a center, after the
 * callbacks and the work that already wait there, and never inside this call. However much work is
 * enqueued, posts are received in between. Starts the thread if needed, even before the center's
 * first use.
 *
 * Work must not block: while it runs, the process hears of no other post through shared memory.
 *
 * Accepted work runs even if the center closes first. Work still waiting when exit() begins never
 * runs. A forked child does not run the work of its parent; work enqueued in the child runs on a
 * thread of the child. dn_shutdown() waits for work as it does for callbacks; work enqueued
 * afterwards opens the center again.
 *
 * @param center  a Darwin or distributed center.
 *
 * Errors:   -EINVAL if `center` or `work` is NULL, or it is the local center; -ENOMEM; -EAGAIN if
 *           the thread cannot be started. The work then never runs.
 * Threads:  any.
 * Apple:    none; CFRunLoopPerformBlock() for the run loop of the center.
 */
DN_EXPORT int dn_center_enqueue(dn_center *center, dn_work_fn work DN_SENDABLE, void *argument);

/** What observers of a center can select by, besides a name. */
typedef enum dn_objects {
        DN_OBJECTS_NONE,     /**< Nothing: objects are ignored. */
        DN_OBJECTS_POINTERS, /**< The same pointer. */
        DN_OBJECTS_TEXTS,    /**< The same text. */
} dn_objects;

/** Returns how a center compares objects: the Darwin center DN_OBJECTS_NONE, the local center
 *  _POINTERS, the distributed center _TEXTS; -EINVAL if `center` is NULL. Threads: any. */
DN_EXPORT int dn_center_get_objects(const dn_center *center);

/**
 * Registers a callback for a name. Once this has returned, a post by any process reaches it. The
 * same registration made N times gives N calls for each post.
 *
 * @param observer  identifies the registration for removal; may be NULL, and is then permanent.
 *                  Neither retained nor dereferenced.
 * @param name      Darwin center: 1 to DN_NAME_MAX_BYTES bytes of UTF-8 (names that begin with
 *                  `self.`: any length), NULL is refused. Distributed center: the same, NULL
 *                  stands for every name. Local center: any length, NULL stands for every name.
 *                  Copied.
 * @param object    local center: only posts with this very pointer, NULL for all. Distributed
 *                  center: only posts with this text, NULL for all; copied. Darwin center: ignored.
 * @param behavior  a DN_SUSPENSION_ value or 0, for the distributed center.
 *
 * Errors:   -EINVAL if `center`, `callback` or (Darwin center) `name` is NULL, or `name` is empty
 *           or not valid UTF-8 or has a Unicode noncharacter; -ENAMETOOLONG; -EACCES if the name is
 *           `user.uid.N` or below and N is not the effective user; -ENOMEM; -EAGAIN if a thread
 *           cannot be started; -ENOBUFS if the bus accepts no match rule at all; -E2BIG if the
 *           object of the distributed center is longer than DN_OBJECT_MAX_BYTES.
 *           DN_NOT_CONNECTED: registered, see error.h.
 * Threads:  any. On a bus that does not answer it returns within a second.
 * Apple:    CFNotificationCenterAddObserver(), which reports nothing.
 */
DN_EXPORT int dn_center_add_observer(dn_center *center, const void *observer,
                                     dn_callback_fn callback DN_SENDABLE, const char *name,
                                     const void *object, int behavior);

/**
 * Removes every registration of `observer` that matches `name` and `object`, if there is one.
 * After a call on the executor's thread, no callback runs. After a call on any other thread, at
 * most one callback that is already running completes. A registration for every name stays if one
 * name is removed.
 *
 * @param name    NULL for all names.
 * @param object  NULL for all objects. Darwin center: ignored.
 *
 * Errors:   -EINVAL if `center` or `observer` is NULL: nothing is removed.
 * Threads:  any.
 * Apple:    CFNotificationCenterRemoveObserver().
 */
DN_EXPORT int dn_center_remove_observer(dn_center *center, const void *observer, const char *name,
                                        const void *object);

/** As dn_center_remove_observer() for all names and objects.
 *  Threads: any. Apple: CFNotificationCenterRemoveEveryObserver(). */
DN_EXPORT int dn_center_remove_every_observer(dn_center *center, const void *observer);

/**
 * Posts a notification.
 *
 * Darwin center: wakes the processes of the user that observe the name, then sends one D-Bus
 * signal; if the bus cannot take it, later, once for each name. Local center: all callbacks
 * have run when it returns. Distributed center: one D-Bus signal for each post, in order, now or
 * later. exit() and a return from main() wait for posts that are to be sent later, for at most a
 * second; _exit() does not: call dn_flush() first.
 *
 * @param name       as in dn_center_add_observer(), but never NULL.
 * @param object     local center: compared with the observers' pointers, NULL reaches only those
 *                   with NULL. Distributed center: the same with text, which is copied. Darwin
 *                   center: ignored.
 * @param user_info  local center: handed to the callbacks as it is. Distributed center: sent, and
 *                   borrowed until the call returns. Darwin center: ignored.
 * @param options    DN_POST_ bits. Local center: ignored.
 *
 * Errors:   -EINVAL, -ENAMETOOLONG, -E2BIG as above; -EACCES if the effective user may not post the
 *           name, see dn_may_post(): nothing is posted. -EAGAIN if a thread cannot be started,
 *           -ENOBUFS if too much waits for the bus, -ENOMEM: not sent, but it may have reached the
 *           observers of the process, and those of other processes of the user when they hear the
 *           bus again. DN_NOT_CONNECTED: done, see error.h.
 * Threads:  any. Never waits for a receiver. The first use in a process waits for the connection,
 *           for at most a second.
 * Apple:    CFNotificationCenterPostNotificationWithOptions(), which reports nothing.
 */
DN_EXPORT int dn_center_post(dn_center *center, const char *name, const void *object,
                             const dn_dict *user_info, unsigned options);

/**
 * Returns 1 if the effective user may post a name and set its state; 0 if not: dn_center_post()
 * then refuses the name, and notify_post() ignores it silently, as on Apple's systems.
 *
 * Errors:   -EINVAL if `name` is NULL, empty, not valid UTF-8 or has a Unicode noncharacter;
 *           -ENAMETOOLONG.
 * Threads:  any.
 */
DN_EXPORT int dn_may_post(const char *name);

/**
 * Returns 1 if the center is connected to its bus at the moment, so that every program on the bus
 * sees its posts; 0 if not, or for the local center. dn_center_observe_bus() reports changes.
 *
 * Errors:   -EINVAL if `center` is NULL; -ENOMEM.
 * Threads:  any. The first use in a process waits for the connection, for at most a second.
 */
DN_EXPORT int dn_center_is_on_bus(dn_center *center);

/**
 * Waits until the bus has read every post that this process has made, on all centers, and reports
 * posts that no bus has taken.
 *
 * 0 means that nothing was lost on the way to the bus since the last call. The bus may still drop a
 * signal, or refuse it by its policy, silently. Whatever this reports, processes that share the
 * table have heard of a post on the Darwin center when dn_center_post() returns. Posts on a center
 * whose bus is `none` are not waited for.
 *
 * @param timeout_us  the longest time to wait, in microseconds; 0 only checks whether all posts
 *                    have been written to the socket.
 *
 * Errors:   -ETIMEDOUT if posts are still waiting; -ENOTCONN if they are and there is no bus. If
 *           none is waiting, once: -ENOTCONN if a bus was lost before it was seen to have read its
 *           posts, or there is none to connect to; -ENOBUFS, -ENOMEM or -EAGAIN if posts were
 *           refused.
 * Threads:  any. In a callback on the inline executor use a timeout of 0 only.
 * Apple:    none; notify_post() talks to its daemon synchronously.
 */
DN_EXPORT int dn_flush(uint64_t timeout_us);

DN_END_DECLS

#endif
