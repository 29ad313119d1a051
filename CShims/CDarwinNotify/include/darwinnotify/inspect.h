/* Inspection of a bus. */
#ifndef DARWINNOTIFY_INSPECT_H
#define DARWINNOTIFY_INSPECT_H

#include <stdbool.h>

#include "base.h"
#include "dict.h"

DN_BEGIN_DECLS

/** One signal of a center. Borrowed, with all it points to, until the callback returns. Texts are
 *  NUL-terminated UTF-8. */
typedef struct dn_post_record {
        uint64_t time_us;    /**< when it arrived: microseconds since 1970 UTC */
        const char *center;  /**< "darwin" or "distributed" */
        const char *name;
        const char *sender;  /**< the unique name of its connection, such as ":1.42" */
        int64_t pid;         /**< of the sender; 0: it left before the bus could identify it */
        const char *program; /**< the file name of the sender's executable; NULL if it is not
                                  visible, as for the processes of other users */
        uint64_t generation; /**< the post's number in the sender's table; 0: not counted */
        uint64_t region;     /**< the table that counted it; 0: none */
        const char *object;       /**< or NULL; Darwin center: NULL */
        const dn_dict *user_info; /**< or NULL; Darwin center: NULL */
        uint64_t number;          /**< counts the sender's posts of this name; 0: not counted */
} dn_post_record;

/** The callbacks of a watch, on the thread that calls dn_watch_posts() or dn_watch_process(). They
 *  must return to their caller. */
typedef struct dn_watcher {
        /** Posts are delivered from now on. May be NULL. Returns 0, or another value to stop. */
        int (*ready)(void *context);
        /** A post has arrived. Returns 0, or another value to stop. */
        int (*post)(const dn_post_record *record, void *context);
        void *context;
        /** Runs exactly once: in dn_watch_close(), or before dn_watch_posts() returns, or if either
         *  dn_watch_open() or dn_watch_posts() fails. May be NULL. */
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_watcher;

/**
 * Watches every post on a bus, over its own connection, until a callback stops it or the bus is
 * lost. Without a bus, dn_center_observe_prefix() reports the posts of registered names.
 *
 * @param bus      as in dn_center_open(); NULL for the bus that dn_center_darwin() uses.
 * @param prefix   only names that begin with these bytes; NULL for all.
 * @param watcher  `post` must be set. Its context is consumed, also on failure.
 * @return the value with which a callback stopped it, if positive; or a negative errno.
 *
 * Errors:   -EINVAL if `watcher` or its `post` is NULL, `bus` names no bus, or a callback returned
 *           a negative value; -ENOMEM; -ENOBUFS if the bus refuses a match rule; -ENOTCONN if there
 *           is no bus, it does not answer within a second, or it is lost.
 * Threads:  any. For an event loop, or to end a watch from another thread, use dn_watch_open().
 */
DN_EXPORT int dn_watch_posts(const char *bus, const char *prefix,
                             const dn_watcher *watcher) DN_NEEDS_BUS;

/** A watch for an event loop. Opaque. It belongs to the process that opened it: a forked child
 *  opens its own and leaves this one alone. */
typedef struct dn_watch dn_watch;

/**
 * Begins to watch every post on a bus, as dn_watch_posts() does, in an event loop of the caller,
 * which calls dn_watch_process() whenever the descriptor is readable, as it is at first.
 *
 * The parameters are those of dn_watch_posts(), and are copied.
 *
 * @param ret_watch  set on success only; owned, close it with dn_watch_close().
 *
 * Errors:   -EINVAL if `watcher`, its `post` or `ret_watch` is NULL, or `bus` names no bus; -ENOMEM
 *           if there is no memory or descriptor; -ENOTCONN if there is no bus.
 * Threads:  any.
 */
DN_EXPORT int dn_watch_open(const char *bus, const char *prefix, const dn_watcher *watcher,
                            dn_watch **ret_watch) DN_NEEDS_BUS;

/**
 * Returns the descriptor to wait for, borrowed: readable (POLLIN, level-triggered) while
 * dn_watch_process() has something to do, and once the watch has ended. Do not read from it.
 *
 * Errors:   -EINVAL if `watch` is NULL.
 * Threads:  any.
 */
DN_EXPORT int dn_watch_get_fd(dn_watch *watch) DN_NEEDS_BUS;

/**
 * Does what the watch can do now without waiting, and calls the callbacks on the calling thread.
 *
 * @return 0 while the watch goes on. Once it has ended, each call returns the value with which a
 *         callback ended it, if positive; 1 after dn_watch_stop(); or a negative errno.
 *
 * Errors:   as for dn_watch_posts(); -EINVAL also if `watch` is NULL or the parent process's.
 * Threads:  one at a time; not in a callback of the watch.
 */
DN_EXPORT int dn_watch_process(dn_watch *watch) DN_NEEDS_BUS;

/**
 * Ends a watch: the descriptor becomes readable, and dn_watch_process() returns 1. Afterwards no
 * callback begins, except one that another thread was about to call. NULL is allowed.
 *
 * Threads:  any, and in a callback of the watch.
 */
DN_EXPORT void dn_watch_stop(dn_watch *watch) DN_NEEDS_BUS;

/**
 * Closes a watch, ended or not. NULL is allowed. Returns NULL.
 *
 * Threads:  any, but not in a callback of the watch, nor while another thread uses it.
 */
DN_EXPORT dn_watch *dn_watch_close(dn_watch *watch) DN_NEEDS_BUS;

/** One name of the user's table. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_name_record {
        const char *name;     /**< NUL-terminated UTF-8 */
        uint64_t generation;  /**< counts the posts; starts at any number */
        uint64_t state;       /**< as set by notify_set_state() */
        size_t n_holders;     /**< living processes with a registration, 1 or more */
        const int32_t *pids;  /**< theirs; 0 if unknown or of another PID namespace; in no order */
        uint64_t n_posts;     /**< since the name entered the table */
} dn_name_record;

/**
 * Lists the names that processes of this user have registered on a bus, in no order. A name that is
 * cancelled and registered meanwhile may come twice.
 *
 * @param bus      as in dn_watch_posts(). No connection is made to it.
 * @param each     called for each name; returns 0, or another value to stop.
 * @param context  borrowed until the function returns.
 * @return 0, or what the callback returned, if positive; or a negative errno.
 *
 * Errors:   -EINVAL if `each` is NULL, `bus` names no bus, or the callback returned a negative
 *           value; -ENOMEM; -EACCES if the table cannot be read, or there is none, nor a directory
 *           that could have one.
 * Threads:  any.
 * Apple:    what `notifyutil --dump` has notifyd write.
 */
DN_EXPORT int dn_list_names(const char *bus,
                            int (*each)(const dn_name_record *record, void *context),
                            void *context);

/** A table as a whole. Borrowed until the callback returns. */
typedef struct dn_table_record {
        uint64_t region;      /**< its random number, never 0 */
        uint64_t n_slots;     /**< for names */
        uint64_t n_named;     /**< slots with a name, held or not */
        uint64_t n_entries;   /**< for processes */
        uint64_t n_processes; /**< entries of living processes */
        bool has_room;        /**< whether `name_of_interest` has a slot, or would get one */
} dn_table_record;

/** The entry of a living process, one for each of its centers that uses the table. Borrowed until
 *  the callback returns. */
typedef struct dn_process_record {
        int32_t pid;       /**< 0 if unknown or of another PID namespace */
        uint64_t n_names;  /**< that it has registered */
        uint64_t n_unread; /**< names with posts that it has not looked at */
        bool follows;      /**< whether it observes a prefix, and so hears of every post */
} dn_process_record;

/** The callbacks of dn_read_table(), on its thread, in this order. Each may be NULL; each returns
 *  0, or another value to stop. */
typedef struct dn_table_reader {
        int (*table)(const dn_table_record *record, void *context);     /**< once */
        int (*name)(const dn_name_record *record, void *context);       /**< for each name */
        int (*process)(const dn_process_record *record, void *context); /**< for each process */
        void *context;
        const char *name_of_interest; /**< 1 to 511 bytes; or NULL */
        uint64_t reserved[2];         /**< 0 */
} dn_table_reader;

/**
 * Finds the table that the processes of this user share on a bus. Creates none.
 *
 * @param bus       as in dn_watch_posts(). No connection is made to it.
 * @param ret_path  set on success only: the path of its file; owned, pass it to free().
 * @return a descriptor of the file, owned; or a negative errno.
 *
 * Errors:   -EINVAL if `bus` names no bus or `ret_path` is NULL; -ENOMEM; -ENOENT if there is no
 *           table yet; -EACCES if it cannot be opened, or no directory can have one.
 * Threads:  any.
 * Apple:    none.
 */
DN_EXPORT int dn_find_table(const char *bus, char **ret_path);

/**
 * Reads a table through its file, without mapping or changing it: even that of another user, or of
 * a process with other directories. Names are reported as by dn_list_names().
 *
 * @param fd      of the file of a table, open for reading; borrowed.
 * @param reader  borrowed.
 * @return 0, or what a callback returned, if positive; or a negative errno.
 *
 * Errors:   -EINVAL if `fd` is not a table of this version, `reader` is NULL, or a callback
 *           returned a negative value; -ENOMEM.
 * Threads:  any.
 * Apple:    none.
 */
DN_EXPORT int dn_read_table(int fd, const dn_table_reader *reader);

DN_END_DECLS

#endif
