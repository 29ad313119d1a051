/* The library as a whole. */
#ifndef DARWINNOTIFY_LIBRARY_H
#define DARWINNOTIFY_LIBRARY_H

#include "base.h"

DN_BEGIN_DECLS

/**
 * Returns the version of the library in use, such as "1.0.0", never NULL. It may be later than that
 * of the headers (DN_VERSION_STRING; as a number DN_VERSION).
 *
 * Threads:  any; async-signal-safe.
 */
DN_EXPORT const char *dn_version(void);

/** Receives the reports of the library about itself. */
typedef struct dn_diagnostics {
        /** Something has happened: a bus was found or lost, say. `message` is one line without a
         *  newline, borrowed. Runs on the thread that noticed, several at a time; must be quick and
         *  must not call the library. */
        void (*invoke)(const char *message, void *context);
        void *context; /**< the program's, passed to `invoke` */
        uint64_t reserved[2]; /**< 0 */
} dn_diagnostics;

/**
 * Hands the reports of the library about itself to the program, for its log, instead of writing
 * them to standard error if DARWIN_NOTIFY_DEBUG=1. Posts are never reported. dn_shutdown() ends
 * this.
 *
 * @param diagnostics  borrowed until another one, or NULL, has replaced it and calls in
 *                     progress have returned: usually a static object. NULL: standard error again.
 *
 * Errors:   -EINVAL if `diagnostics->invoke` is NULL.
 * Threads:  any; best before the first call of another function.
 */
DN_EXPORT int dn_set_diagnostics(const dn_diagnostics *diagnostics);

/**
 * Ends everything the library does in this process: threads, connections, descriptors, its entry in
 * the shared table, memory. For plugins that contain the static library, before dlclose(), for leak
 * checkers, and for a language runtime that ends before exit(). Not for programs in Swift, whose
 * modules keep observers for as long as they are loaded.
 *
 * Join the threads that use the library first: none may call it until this has returned. Threads
 * that run callbacks may still be doing so, and the callbacks may call the library.
 *
 * Cancels every observer, token and call in progress, and closes every service. Destroy hooks of
 * observers and tokens run on this thread, or where a callback is still running. Waits for running
 * callbacks and for callbacks that wait in executors, for at most a second, then sends the posts
 * that still wait for the bus, for at most two more seconds. Destructors that the caller has
 * registered with pthread_key_create() may run on the library's threads: waits until they return.
 *
 * Afterwards the library can be used again, as for the first time. Observers, services, centers and
 * loops that the caller owns are released as usual, before or after, but before dlclose(). Calls of
 * dn_call_begin() must be released, and requests answered, before the shutdown.
 *
 * Errors:   -EDEADLK in a callback, in a destroy hook, or on another thread of the library: nothing
 *           is done. -EBUSY at once, with nothing done, if another thread is inside the library, or
 *           a watch of dn_watch_open() is still open. -EBUSY after a second if a callback is still
 *           running or queued in an executor (which must run or refuse it), a call of
 *           dn_call_begin() has ended but was not released, or a cancelled request was not
 *           answered. In that case observers and tokens are cancelled and services closed;
 *           everything else continues, and the function may be called again.
 * Threads:  one; none may be inside the library. Calls of notify_check(), notify_peek(),
 *           notify_get_state() and notify_is_valid_token(), also in signal handlers, are not
 *           noticed.
 */
DN_EXPORT int dn_shutdown(void);

DN_END_DECLS

#endif
