/* The error numbers that a caller can receive.
 *
 * Every function that can fail returns 0 or a negative errno of this closed list; each function
 * documents which ones it returns and when.
 *
 *   -EINVAL        an argument is NULL, empty or malformed: nothing was sent, nothing was changed
 *   -ENAMETOOLONG  a name is longer than DN_NAME_MAX_BYTES: nothing was sent, nothing was changed
 *   -EACCES        the name belongs to another user (see notify.h), or the table of names is not
 *                  available: nothing was changed
 *   -E2BIG         a dictionary exceeds one of the limits of dict.h, or an object is longer than
 *                  DN_OBJECT_MAX_BYTES: nothing was sent, nothing was changed
 *   -ENOMEM        no memory or no thread available: nothing was sent
 *   -ENOBUFS       a limit is reached (the bus refuses any more match rules, or too many distinct
 *                  names wait for a bus that does not accept them)
 *   -ETIMEDOUT     the caller's time limit has passed
 *   -ENOTCONN      there is no bus at present. A report, not a refusal: see dn_is_offline()
 */
#ifndef DARWINNOTIFY_ERROR_H
#define DARWINNOTIFY_ERROR_H

#include <errno.h>

/**
 * Returns whether a result only reports that no bus can be reached at present.
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
