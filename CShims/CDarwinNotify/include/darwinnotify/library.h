/* The library as a whole: its version and its end. */
#ifndef DARWINNOTIFY_LIBRARY_H
#define DARWINNOTIFY_LIBRARY_H

#include "base.h"

DN_BEGIN_DECLS

/**
 * Returns the version of the library in use, such as "1.0.0". A shared library may have a later
 * version than the headers, whose version is DN_VERSION_STRING; DN_VERSION is the same as a number,
 * to compare with DN_VERSION_NUMBER(1, 0, 0).
 *
 * Never NULL; valid for as long as the library is loaded.
 *
 * Threads:  any; async-signal-safe.
 * Apple:    none.
 */
DN_EXPORT const char *dn_version(void);

/** Takes what the library reports about itself. */
typedef struct dn_diagnostics {
        /** Something has happened: a bus was found or lost, say. `message` is one line without a
         *  newline, borrowed. Runs on the thread that noticed, several at a time; must be quick and
         *  must not call the library. */
        void (*invoke)(const char *message, void *context);
        void *context; /**< handed to `invoke` */
} dn_diagnostics;

/**
 * Hands what the library reports about itself to the program, for its log: the messages that
 * DARWIN_NOTIFY_DEBUG=1 has it write to standard error, where they no longer appear. Posts are
 * never reported. dn_shutdown() ends it.
 *
 * @param diagnostics  borrowed until another one, or NULL, has taken its place and calls in
 *                     progress have returned: usually a static object. NULL: standard error again,
 *                     if the variable asks for it.
 *
 * Threads:  any; best before the first call of another function, which may have something to
 *           report.
 * Apple:    none.
 */
DN_EXPORT void dn_set_diagnostics(const dn_diagnostics *diagnostics);

/**
 * Ends everything the library does in this process: threads, connections, descriptors, its entry in
 * the shared table, memory. For plugins that contain the static library, before dlclose(), and for
 * leak checkers. At exit() the library ends its deliveries and sends what is pending by itself; but
 * a runtime that ends earlier than that (an interpreter that is finalized, say) calls this first,
 * so that no callback finds it gone.
 *
 * It cancels every observer and token; their destroy hooks run, on this thread or where a callback
 * is still running. It waits for running callbacks, for works that wait in executors and for calls
 * of other threads, for at most a second, then sends what still waits for the bus, for at most
 * another one. Posts of other threads meanwhile wait, and then begin afresh.
 *
 * Afterwards the library can be used again, as for the first time; the environment variables are
 * read again. Tokens are invalid. Centers of dn_center_open() begin afresh at their next use.
 * Observers, centers and loops that the caller owns are released as ever, before or after, but
 * before dlclose(); until then they keep their own memory, and a loop its descriptor.
 *
 * Not for programs in Swift, whose modules keep observers for as long as they are loaded.
 *
 * Errors:   -EDEADLK in a callback, in a destroy hook, or on another thread of the library: nothing
 *           is done. -EBUSY if, after a second, a callback is still running, or waits in an
 *           executor of the host (which must run it, or refuse it, as dn_loop_close() does), or
 *           another thread is inside a call, such as dn_watch_posts() or another dn_shutdown(), or
 *           a watch opened by dn_watch_open() is not closed: observers and tokens are cancelled,
 *           all else goes on, and it may be called again.
 * Threads:  any. Not while another thread or a signal handler calls notify_check(), notify_peek(),
 *           notify_get_state() or notify_is_valid_token(), which take no lock.
 * Apple:    none.
 */
DN_EXPORT int dn_shutdown(void);

DN_END_DECLS

#endif
