/* Apple's notify(3) on Linux: integer tokens for named notifications, over D-Bus.
 *
 * Source that was written for macOS or iOS compiles against this header. The names, signatures
 * and status codes are Apple's; where the behaviour differs, the function says so under "Apple:".
 *
 * Status codes. In addition to the codes that each function lists, posts, registrations and states
 * return NOTIFY_STATUS_OPT_DISABLE while the library is disabled (notify_set_options() in
 * notify_private.h), except for names that begin with `self.`; posts and registrations return
 * NOTIFY_STATUS_FAILED if there is no memory, thread or descriptor left.
 *
 * Names. NUL-terminated UTF-8 of 1 to 511 bytes; any others are NOTIFY_STATUS_INVALID_NAME. (Apple
 * truncates longer names, so that two may become one, and accepts any bytes.) Names that begin with
 * `self.` never leave the process, have no length limit, and work without a bus.
 *
 * The effective user decides who may do what:
 *
 *   user.uid.N, user.uid.N.*   only user N and root register, post and set states
 *   user.uid.*                 any other name below it: only root
 *   com.apple.system.*         everybody registers and reads, only root posts and sets states
 *
 * A refused registration returns NOTIFY_STATUS_NOT_AUTHORIZED; a refused post or state returns
 * NOTIFY_STATUS_OK and does nothing, as with Apple. Receivers also ask the bus who posted a
 * reserved name, so a poster of another user has to stay connected for a moment: exit() and a
 * return from main() wait up to 100 ms for that, _exit() does not. These rules separate users, not
 * the processes of one user, which share their table.
 *
 * Order. A post, and a state that was set before it, are visible to every notify_check() and
 * notify_get_state() of the user's processes when notify_post() returns.
 *
 * Without the table in shared memory (no private directory, or no room) everything works over the
 * bus alone: states then belong to the process, and notify_check() counts the posts that arrived.
 *
 * Forked children. The parent's tokens are not valid in a child (NOTIFY_STATUS_INVALID_TOKEN);
 * everything else works there, over the child's own connection. (Apple's library is disabled in a
 * child.) A child that is forked inside a handler must exec or `_exit`.
 *
 * Threads: any function may be called on any thread at any time, notify_check() and
 * notify_is_valid_token() also in signal handlers. */
#ifndef DARWINNOTIFY_NOTIFY_H
#define DARWINNOTIFY_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/base.h"

#define NOTIFY_STATUS_OK 0               /**< done */
#define NOTIFY_STATUS_INVALID_NAME 1     /**< the name is NULL or malformed */
#define NOTIFY_STATUS_INVALID_TOKEN 2    /**< there is no such token, or no longer */
#define NOTIFY_STATUS_INVALID_PORT 3     /**< never returned: there are no Mach ports */
#define NOTIFY_STATUS_INVALID_FILE 4     /**< not a descriptor of this library */
#define NOTIFY_STATUS_INVALID_SIGNAL 5   /**< not a signal number */
#define NOTIFY_STATUS_INVALID_REQUEST 6  /**< not possible with this token, or at all */
#define NOTIFY_STATUS_NOT_AUTHORIZED 7   /**< the name belongs to another user */
#define NOTIFY_STATUS_OPT_DISABLE 8      /**< the library is disabled */
#define NOTIFY_STATUS_SERVER_NOT_FOUND 9 /**< neither bus nor table found yet */
#define NOTIFY_STATUS_NULL_INPUT 10      /**< a pointer is NULL */
#define NOTIFY_STATUS_FAILED 1000000     /**< out of memory, threads or descriptors */

/** The token that is never valid. */
#define NOTIFY_TOKEN_INVALID -1

/** A flag of notify_register_file_descriptor(): reuse the descriptor of an earlier registration. */
#define NOTIFY_REUSE 0x00000001

DN_BEGIN_DECLS

/**
 * Posts a notification to every process that has registered for the name, this one included.
 *
 * Never waits for a receiver. The first use in a process waits at most a second for its connection.
 *
 * Returns:  NOTIFY_STATUS_OK; NOTIFY_STATUS_INVALID_NAME; NOTIFY_STATUS_SERVER_NOT_FOUND if neither
 *           a bus nor a table has been found since the process began: the post has reached only
 *           this process, and is sent when a bus appears; NOTIFY_STATUS_FAILED if too many names
 *           wait for a bus that does not take them.
 * Threads:  any.
 * Apple:    a refused post may also return NOTIFY_STATUS_FAILED there.
 */
DN_EXPORT uint32_t notify_post(const char *name);

/**
 * Registers for a name without any delivery: notify_check() reports whether it was posted.
 *
 * @param name       copied.
 * @param out_token  set to the token, or to NOTIFY_TOKEN_INVALID when the call fails.
 *
 * Returns:  NOTIFY_STATUS_OK, _INVALID_NAME, _NULL_INPUT if `out_token` is NULL, _NOT_AUTHORIZED,
 *           _SERVER_NOT_FOUND, _FAILED.
 * Threads:  any. Returns after the bus has confirmed.
 */
DN_EXPORT uint32_t notify_register_check(const char *name, int *out_token);

/**
 * Registers a signal that is sent to the process for each post.
 *
 * The signal goes to the process, as if by kill(getpid(), sig), and carries no value: the handler
 * calls notify_check() to find out which of its tokens was posted. Also call it once after
 * registering, since its first answer is always true. Pending standard signals merge. The library's
 * threads block all signals except those of their own faults (SIGSEGV and the like).
 *
 * @param name       copied.
 * @param sig        the number of a signal, as Linux numbers them.
 * @param out_token  set on success only, before the first signal.
 *
 * Returns:  NOTIFY_STATUS_OK, _INVALID_NAME, _NULL_INPUT if `out_token` is NULL, _INVALID_SIGNAL,
 *           _NOT_AUTHORIZED, _SERVER_NOT_FOUND, _FAILED.
 * Threads:  any. Returns after the bus has confirmed.
 * Apple:    does not check the number of the signal.
 */
DN_EXPORT uint32_t notify_register_signal(const char *name, int sig, int *out_token);

/**
 * Registers a descriptor that receives 4 bytes for each post: the token in network byte order.
 *
 * Unread tokens stay in the pipe. Posts that are delivered together write at most 1024 tokens, so
 * that they leave room for other names. While the pipe is full further posts write nothing;
 * notify_check() still reports them.
 *
 * @param name       copied.
 * @param notify_fd  without NOTIFY_REUSE set on success to the read end of a new pipe; with it, the
 *                   read end of an earlier registration that is still valid. The descriptor
 *                   belongs to the library, which closes it with the last token that uses it: do
 *                   not close it. It blocks, and is closed by exec.
 * @param flags      0 or NOTIFY_REUSE.
 * @param out_token  set on success only, before the first write.
 *
 * Returns:  NOTIFY_STATUS_OK, _INVALID_NAME, _INVALID_FILE if `notify_fd` is NULL or, with
 *           NOTIFY_REUSE, not such a descriptor, _NULL_INPUT if `out_token` is NULL,
 *           _NOT_AUTHORIZED, _SERVER_NOT_FOUND, _FAILED.
 * Threads:  any. Returns after the bus has confirmed.
 * Apple:    the descriptor stays open across exec; a pipe that was once full stays silent.
 */
DN_EXPORT uint32_t notify_register_file_descriptor(const char *name, int *notify_fd, int flags,
                                                   int *out_token);

#if defined(__has_attribute)
#if __has_attribute(unavailable)
/** Linux has no Mach ports. (Compilers without the attribute do not know the function at all.) */
__attribute__((unavailable("Linux has no Mach ports: use notify_register_file_descriptor()")))
uint32_t notify_register_mach_port(const char *name, uint32_t *notify_port, int flags,
                                   int *out_token);
#endif
#endif

/**
 * Reports whether the name was posted since the previous call for this token; the first answer is
 * true.
 *
 * Works for every kind of token, suspended or not, whether or not its deliveries have been read.
 * Several posts are one change. It may, rarely, report a change when there was none.
 *
 * @param check  set on success to 1 or 0.
 *
 * Returns:  NOTIFY_STATUS_OK, _NULL_INPUT if `check` is NULL, _INVALID_TOKEN.
 * Threads:  any; async-signal-safe. Takes no lock, makes no system call.
 */
DN_EXPORT uint32_t notify_check(int token, int *check);

/**
 * Ends a registration. The token is invalid at once, also inside its own handler.
 *
 * After a call made where the handler runs, the handler does not run again, not even for a post
 * that is on its way. After a call from anywhere else, at most one run that has already begun
 * completes. A descriptor is closed with the last token that uses it.
 *
 * Returns:  NOTIFY_STATUS_OK, _INVALID_TOKEN.
 * Threads:  any.
 */
DN_EXPORT uint32_t notify_cancel(int token);

/**
 * Suspends the deliveries of a token, including pending ones, until notify_resume() has been called
 * as often as this function.
 *
 * Returns:  NOTIFY_STATUS_OK, also for tokens that deliver nothing; _INVALID_TOKEN.
 * Threads:  any.
 * Apple:    counted as documented; Apple's code does not count for tokens with a block.
 */
DN_EXPORT uint32_t notify_suspend(int token);

/**
 * Undoes one notify_suspend(). The last one delivers once if there were posts in between.
 *
 * Returns:  NOTIFY_STATUS_OK, also if the token is not suspended; _INVALID_TOKEN.
 * Threads:  any.
 */
DN_EXPORT uint32_t notify_resume(int token);

/**
 * Sets the state of the name of a token: 64 bits that every registration of the user's processes on
 * the bus reads and writes. It does not post. The state is 0 at first and lives as long as any
 * process has a registration for the name; a `self.` name has its own in each process.
 *
 * Returns:  NOTIFY_STATUS_OK, also when it is refused; _INVALID_TOKEN.
 * Threads:  any.
 * Apple:    also for other users, where access allows it; a user's table is private here.
 */
DN_EXPORT uint32_t notify_set_state(int token, uint64_t state64);

/**
 * Reads the state of the name of a token. `state64` is set on success.
 *
 * Returns:  NOTIFY_STATUS_OK, _NULL_INPUT if `state64` is NULL, _INVALID_TOKEN.
 * Threads:  any. Takes no lock, makes no system call.
 */
DN_EXPORT uint32_t notify_get_state(int token, uint64_t *state64);

/** Returns whether a token is valid. Threads: any; async-signal-safe. */
DN_EXPORT bool notify_is_valid_token(int val);

DN_END_DECLS

#if defined(__BLOCKS__) && defined(__has_include)
#if __has_include(<dispatch/dispatch.h>) && __has_include(<Block.h>)
#include "darwinnotify/dispatch.h"
#endif
#endif

#if !defined(DARWINNOTIFY_DISPATCH_H) && defined(__has_attribute)
#if __has_attribute(unavailable)
/** See darwinnotify/dispatch.h. */
__attribute__((unavailable("it needs clang -fblocks, <dispatch/dispatch.h> and <Block.h>")))
uint32_t notify_register_dispatch(const char *name, int *out_token, void *queue, void *handler);
#endif
#endif

#endif
