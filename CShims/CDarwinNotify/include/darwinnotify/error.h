/* The error numbers that a caller can receive.
 *
 * A function that fails returns a negative errno of this closed list; its documentation says which
 * ones it returns and when. After one of the first four, nothing was sent and nothing was changed.
 *
 *   -EINVAL        an argument is NULL, empty or malformed
 *   -ENAMETOOLONG  a name is longer than DN_NAME_MAX_BYTES
 *   -EACCES        the name belongs to another user (see notify.h), or the table of names is not
 *                  available
 *   -E2BIG         a dictionary exceeds one of the limits of dict.h, or an object is longer than
 *                  DN_OBJECT_MAX_BYTES
 *   -ENOMEM        no memory available: nothing was sent
 *   -EAGAIN        no thread available, or a sandbox refuses one: nothing was sent
 *   -EMFILE, -ENFILE   no descriptor available, in the process or in the system, or a sandbox
 *                  refuses one: nothing was sent. A function that lists -ENOMEM may also return
 *                  these and -EAGAIN
 *   -ENOBUFS       a limit is reached (the bus refuses any more match rules, or too many distinct
 *                  names wait for a bus that does not accept them)
 *   -ETIMEDOUT     the caller's time limit has passed
 *   -ENOTCONN      there is no bus, or it was lost
 *   -EEXIST        the name of a service is taken
 *   -ENOENT        there is no table of names yet
 *   -ECANCELED     nobody is waiting for the reply to a request any longer
 *   -ENXIO, -ECONNRESET, -EREMOTEIO, -EBADMSG   how a request ended, see call.h
 *   -EBUSY, -EDEADLK   the library cannot be shut down now, or from here, see library.h
 *
 * A positive result is an outcome: the call has taken effect, and says more about how.
 */
#ifndef DARWINNOTIFY_ERROR_H
#define DARWINNOTIFY_ERROR_H

#include <errno.h>

/**
 * The call has taken effect, but at present nobody outside the process can be reached.
 *
 * There is neither a bus nor memory shared with the user's other processes. An observer is
 * registered (and its handle is set); a post has reached the observers of the process, and is sent
 * when a bus appears. The library keeps looking for both: the caller need not repeat
 * anything.
 */
#define DN_NOT_CONNECTED 1

#endif
