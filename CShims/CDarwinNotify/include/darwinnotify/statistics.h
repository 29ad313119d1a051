/* Counters of a center, for inspecting a running program. */
#ifndef DARWINNOTIFY_STATISTICS_H
#define DARWINNOTIFY_STATISTICS_H

#include "base.h"
#include "center.h"

DN_BEGIN_DECLS

/** The counters of dn_center_get_statistic(). The numbers are part of the ABI. */
enum {
        DN_STATISTIC_OBSERVERS = 1,       /**< registrations, now */
        DN_STATISTIC_NAMES = 2,           /**< distinct names with an observer, now; a name counts
                                               for one second after its last observer */
        DN_STATISTIC_NAMES_WAITING = 3,   /**< names whose posts wait for the bus, now; in
                                               a flood, posts by themselves */
        DN_STATISTIC_SIGNALS_SENT = 4,    /**< posts handed to the bus, since the first use */
        DN_STATISTIC_SIGNALS_RECEIVED = 5, /**< posts received from it, our own included */
        DN_STATISTIC_SIGNALS_IGNORED = 6, /**< messages that are not a post, or of a name that
                                               the sender may not post; refused requests */
        DN_STATISTIC_CONNECTS = 7,        /**< how often a bus was found */
        DN_STATISTIC_TABLES = 8,          /**< 1 while the process shares a table with the other
                                               processes of the user, else 0 */
        DN_STATISTIC_NAMES_UNCOUNTED = 9, /**< names in use that no table counts, now: their posts
                                               go over the bus alone */
        DN_STATISTIC_TABLE_ID = 10,       /**< the random number of that table, 0 without one: its
                                               counts continue only while this is the same */
};

/**
 * Reads one counter of a center, of this process.
 *
 * @param statistic  a DN_STATISTIC_ value. The local center has the first two; the table is that of
 *                   the Darwin center. All others are 0.
 * @param ret_value  set on success only.
 *
 * Errors:   -EINVAL if an argument is NULL or `statistic` is none of them; -ENOMEM.
 * Threads:  any.
 * Apple:    none; notifyd writes such counters into its status file.
 */
DN_EXPORT int dn_center_get_statistic(dn_center *center, int statistic, uint64_t *ret_value);

DN_END_DECLS

#endif
