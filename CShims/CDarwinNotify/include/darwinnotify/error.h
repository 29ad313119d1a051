/* The error numbers that a caller can meet.
 *
 * Every function that can fail returns 0 or a negative errno of this closed list; each function
 * says which of them it returns, and on which condition.
 *
 *   -EINVAL        an argument is NULL, empty or malformed: nothing was sent, nothing was changed
 *   -ENAMETOOLONG  a name is longer than DN_NAME_MAX_BYTES: nothing was sent, nothing was changed
 *   -EACCES        the name belongs to another user (see notify.h), or the table of names cannot be
 *                  had: nothing was changed
 *   -ENOMEM        memory or a thread could not be had: nothing was sent
 *   -ENOBUFS       a limit is reached (the bus refuses any more match rules, or too many distinct
 *                  names wait for a bus that does not take them)
 *   -ETIMEDOUT     the time limit that the caller gave has passed
 *   -ENOTCONN      there is no bus at the moment. A report, not a refusal: see dn_is_offline()
 */
#ifndef DARWINNOTIFY_ERROR_H
#define DARWINNOTIFY_ERROR_H

#include <errno.h>

/**
 * Tells whether a result only reports that no bus can be reached at the moment.
 *
 * The call that returned it *has taken effect*: an observer is registered (and its handle is
 * set), a post is delivered inside the process, counted in the memory shared with the other
 * processes of the user, and sent when a bus appears. The library goes on looking for the bus by
 * itself; there is nothing for the caller to repeat.
 *
 * Threads:  any; async-signal-safe.
 */
static inline int dn_is_offline(int result)
{
        return result == -ENOTCONN;
}

#endif
