/* Looking at a bus: every post that goes over it, and the names that are in use. */
#ifndef DARWINNOTIFY_INSPECT_H
#define DARWINNOTIFY_INSPECT_H

#include "base.h"

DN_BEGIN_DECLS

/** One signal of the Darwin center. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_post_record {
        uint64_t time_us;    /**< when it arrived: microseconds since 1970 UTC */
        const char *center;  /**< "darwin" */
        const char *name;    /**< NUL-terminated UTF-8 */
        const char *sender;  /**< the unique name of its connection, such as ":1.42" */
        int64_t pid;         /**< of the sender; 0 if not known: it had gone before the bus could
                                  be asked for it, or the bus did not answer in time */
        const char *program; /**< file name of the sender's executable, as it is, or what the
                                  process calls itself where that is not to be seen; NULL if not
                                  known */
        uint64_t generation; /**< what the sender's table counted; 0: not counted */
        uint64_t region;     /**< the table that counted it; 0: none */
} dn_post_record;

/** What dn_watch_posts() calls. Both run on the thread that called it. */
typedef struct dn_watcher {
        /** The bus delivers from now on. May be NULL. Returns 0, or another value to end. */
        int (*ready)(void *context);
        /** A post has come. Returns 0, or another value to end. */
        int (*post)(const dn_post_record *record, void *context);
        void *context; /**< borrowed until dn_watch_posts() returns */
} dn_watcher;

/**
 * Watches every post on a bus, over a connection of its own, until a callback ends it.
 *
 * Posts that stay inside a process (`self.` names) do not go over the bus.
 *
 * @param bus      as in dn_center_open(); NULL for the bus that dn_center_darwin() uses.
 * @param prefix   only names that begin with these bytes; NULL for all.
 * @param watcher  `post` must be set; borrowed.
 * @return what the callback returned that ended it, if positive; or a negative errno.
 *
 * Errors:   -EINVAL if `watcher` or its `post` is NULL, `bus` is empty, or a callback returned a
 *           negative value; -ENOMEM; -ENOBUFS if the bus refuses the match rule; -ENOTCONN if there
 *           is no bus, none that answers within a second, or no more.
 * Threads:  any; returns only at the end.
 * Apple:    none.
 */
DN_EXPORT int dn_watch_posts(const char *bus, const char *prefix, const dn_watcher *watcher);

/** One name of the user's table. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_name_record {
        const char *name;     /**< NUL-terminated UTF-8 */
        uint64_t generation;  /**< counts the posts; begins anywhere */
        uint64_t state;       /**< what notify_set_state() has set */
        size_t n_holders;     /**< living processes with a registration, 1 or more */
        const int32_t *pids;  /**< theirs, as they see themselves; 0 if not known; in no order */
} dn_name_record;

/**
 * Lists the names that processes of this user have registrations for on a bus, in byte order.
 *
 * @param bus      as in dn_watch_posts(). No connection is made to it.
 * @param each     called for each name; returns 0, or another value to end.
 * @param context  borrowed until the function returns.
 * @return 0, or what the callback returned, if positive; or a negative errno.
 *
 * Errors:   -EINVAL if `each` is NULL, `bus` is empty, or the callback returned a negative value;
 *           -ENOMEM; -ENOTCONN if there is no bus to have a table; -EACCES if the table is not to
 *           be had (no private directory, of another version, or used
 *           by 1024 processes already).
 * Threads:  any.
 * Apple:    what `notifyutil --dump` has notifyd write.
 */
DN_EXPORT int dn_list_names(const char *bus,
                            int (*each)(const dn_name_record *record, void *context),
                            void *context);

DN_END_DECLS

#endif
