/* Notification centers in the shape of CFNotificationCenter. */
#ifndef DARWINNOTIFY_CENTER_H
#define DARWINNOTIFY_CENTER_H

#include "base.h"
#include "executor.h"

DN_BEGIN_DECLS

/** A notification center. Opaque. */
typedef struct dn_center dn_center;

/** A dictionary that travels with a notification. Opaque; the Darwin center passes NULL. */
typedef struct dn_dict dn_dict;

/**
 * Is called for each notification that an observer gets.
 *
 * @param center     the center it was posted to.
 * @param observer   the pointer that was given at registration; never dereferenced by the library.
 * @param name       NUL-terminated UTF-8; borrowed until the call returns.
 * @param object     local center: the pointer that was posted. Darwin center: NULL.
 * @param user_info  local center: the pointer that was posted. Darwin center: NULL.
 *
 * Apple:  CFNotificationCallback.
 */
typedef void (*dn_callback_fn)(dn_center *center, void *observer, const char *name,
                               const void *object, const dn_dict *user_info);

/** What is to happen while the observer is suspended. The centers of this header are never
 *  suspended and ignore it, as Apple's do; 0 and unknown values are accepted. */
enum {
        DN_SUSPENSION_DROP = 1,
        DN_SUSPENSION_COALESCE = 2,
        DN_SUSPENSION_HOLD = 3,
        DN_SUSPENSION_DELIVER_IMMEDIATELY = 4,
};

/** Options of dn_center_post(), a bit mask. The first two are Apple's, and ignored as the Darwin
 *  center of Apple ignores them. */
enum {
        DN_POST_DELIVER_IMMEDIATELY = 1 << 0,
        DN_POST_TO_ALL_SESSIONS = 1 << 1,
        /** Posts of one name that come in a flood may reach the bus as one signal, up to a
         * millisecond late; the observers of this library are told of all. For names that say
         * "look again": it keeps who posts as fast as it can from waiting for the socket. */
        DN_POST_MERGE = 1 << 8,
};

/* In a forked child the same pointers stay valid, the shared ones and those of dn_center_open().
 * Each center starts anew there: a connection of its own at its next use, no observers. The parent
 * is undisturbed. */

/**
 * Returns the Darwin center: names without payload, to every process on the same bus.
 *
 * Always the same pointer, never NULL, with or without a bus; the caller owns nothing. The bus
 * is looked for at the first use, never here. The environment variable DARWIN_NOTIFY_BUS chooses
 * it: `session` (the default: DBUS_SESSION_BUS_ADDRESS, else $XDG_RUNTIME_DIR/bus), `system`,
 * `none` (calls work inside the process, and report -ENOTCONN), or a D-Bus address. It is read
 * once, and ignored in a set-user-id program.
 *
 * A post may be seen late, never lost: after the last post of a name each of its observers, in all
 * processes of the user, runs at least once. Up to 16 posts that wait for an observer are delivered
 * one by one; what comes on top of that is merged into one call. The process's own observers get
 * its own posts too, once, and never from inside dn_center_post().
 *
 * Threads:  any.
 * Apple:    CFNotificationCenterGetDarwinNotifyCenter(). Scope: the bus, that is one user (or the
 *           machine, with `system`), where Apple's is the machine. Callbacks come on the
 *           center's executor, not on a main run loop: see dn_center_set_executor().
 */
DN_EXPORT dn_center *dn_center_darwin(void);

/**
 * Returns the local center: delivery inside the process, on the poster's thread, before the post
 * returns.
 *
 * Always the same pointer, never NULL; the caller owns nothing. Names may have any length.
 * Objects are compared as pointers. Posts nest, and posts from several threads run at a time.
 *
 * Threads:  any.
 * Apple:    CFNotificationCenterGetLocalCenter().
 */
DN_EXPORT dn_center *dn_center_local(void);

/**
 * Opens another Darwin center, on a bus of the caller's choice, with a connection of its own.
 *
 * @param bus         `session`, `system`, `none` or a D-Bus address such as
 *                    `unix:path=/run/user/1000/bus`; borrowed until the call returns.
 * @param ret_center  set on success only; the caller owns one reference.
 *
 * Errors:   -EINVAL if an argument is NULL or `bus` is empty; -ENOMEM.
 * Threads:  any.
 * Apple:    none.
 */
DN_EXPORT int dn_center_open(const char *bus, dn_center **ret_center);

/**
 * Gives a reference of dn_center_open() back. The center closes with the last reference and the
 * last of its observers; posts that still wait for the bus are sent first, for at most a second.
 *
 * @param center  consumed; NULL and the shared centers are left alone.
 * @return NULL.
 *
 * Threads:  any, but not from a callback of this center on the inline executor.
 */
DN_EXPORT dn_center *dn_center_unref(dn_center *center);

/**
 * Chooses where the callbacks of dn_center_add_observer() run from now on; observers that are
 * registered already keep their executor.
 *
 * @param executor  copied, and consumed also on failure; NULL stands for the delivery thread.
 *
 * Errors:   -EINVAL if `center` or `executor->enqueue` is NULL, or it is the local center; -ENOMEM.
 * Threads:  any.
 * Apple:    none public; Windows has _CFNotificationCenterSetRunLoop().
 */
DN_EXPORT int dn_center_set_executor(dn_center *center, const dn_executor *executor);

/**
 * Registers a callback for a name.
 *
 * Registrations are not de-duplicated: adding the same one N times gives N calls for each post,
 * in registration order. From the moment it returns, a post by any process reaches the callback.
 *
 * @param observer  identifies the registration for removal; may be NULL, and is then permanent.
 *                  Neither retained nor dereferenced.
 * @param name      Darwin center: 1 to DN_NAME_MAX_BYTES bytes of UTF-8 (names that begin with
 *                  `self.`: any length), NULL is refused. Local center: any length, NULL stands
 *                  for every name. Copied.
 * @param object    local center: only posts with this very pointer, NULL for all. Darwin center:
 *                  ignored.
 * @param behavior  a DN_SUSPENSION_ value or 0; ignored.
 *
 * Errors:   -EINVAL if `center`, `callback` or (Darwin center) `name` is NULL, or `name` is empty
 *           or no valid UTF-8 or has a Unicode noncharacter; -ENAMETOOLONG; -EACCES if the name is
 *           `user.uid.N` or below and N is not the effective user; -ENOMEM; -ENOBUFS if the bus
 *           accepts no match rule at all; -ENOTCONN: registered, but without a bus.
 * Threads:  any. On a bus that does not answer it returns within a second.
 * Apple:    CFNotificationCenterAddObserver(), which reports nothing.
 */
DN_EXPORT int dn_center_add_observer(dn_center *center, const void *observer,
                                     dn_callback_fn callback DN_SENDABLE, const char *name,
                                     const void *object, int behavior);

/**
 * Removes every registration of `observer` that fits `name` and `object`, duplicates included.
 *
 * On the thread of the executor no callback follows; from another thread at most one that was
 * already running ends. To have nothing to remove is no error. A registration for every name
 * (local center, name NULL) is not touched by the removal of one name.
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

/**
 * Removes every registration of `observer` from the center.
 *
 * Errors:   -EINVAL if `center` or `observer` is NULL: nothing is removed.
 * Threads:  any.
 * Apple:    CFNotificationCenterRemoveEveryObserver().
 */
DN_EXPORT int dn_center_remove_every_observer(dn_center *center, const void *observer);

/**
 * Posts a notification.
 *
 * Darwin center: one D-Bus signal (docs/wire.md). If the bus does not take it at once it is sent
 * later, once for each name however often that name was posted in the meantime; leaving the
 * process by exit() or a return from main() waits for that for at most a second, _exit() does
 * not: call dn_flush() before it. Local center: all callbacks have run when it returns.
 *
 * @param name       as in dn_center_add_observer(), but never NULL.
 * @param object     local center: compared with the observers' pointers, NULL reaches only those
 *                   with NULL. Darwin center: ignored.
 * @param user_info  local center: handed to the callbacks as it is. Darwin center: ignored.
 * @param options    DN_POST_ bits. Local center: ignored.
 *
 * Errors:   -EINVAL, -ENAMETOOLONG as above; -ENOBUFS if too many distinct names wait for the bus,
 *           -ENOMEM: not sent, but it may have reached the observers of the process, and those of
 *           other processes of the user when they hear the bus again; -ENOTCONN: done, but there
 *           is no bus (see error.h).
 * Threads:  any. Never waits for the receiver; waits for the very first connection of the
 *           process, for at most a second.
 * Apple:    CFNotificationCenterPostNotificationWithOptions(), which reports nothing.
 */
DN_EXPORT int dn_center_post(dn_center *center, const char *name, const void *object,
                             const dn_dict *user_info, unsigned options);

/**
 * Waits until every post that this process has made, on all centers, has been read by its bus.
 *
 * @param timeout_us  the longest time to wait, in microseconds; 0 only asks whether all have been
 *                    handed to the socket.
 *
 * Errors:   -ETIMEDOUT if posts are still waiting; -ENOTCONN if they are and there is no bus.
 * Threads:  any, but not from a callback on the inline executor, where only 0 makes sense.
 * Apple:    none; notify_post() talks to its daemon synchronously.
 */
DN_EXPORT int dn_flush(uint64_t timeout_us);

DN_END_DECLS

#endif
