/* The private half of Apple's notify(3). */
#ifndef DARWINNOTIFY_NOTIFY_PRIVATE_H
#define DARWINNOTIFY_NOTIFY_PRIVATE_H

#include <sys/types.h>

#include "notify.h"

#define NOTIFY_OPT_DISPATCH 0x00000001u /**< accepted, without effect: always so here */
#define NOTIFY_OPT_REGEN 0x00000002u    /**< accepted, without effect: always so here */
#define NOTIFY_OPT_FILTERED 0x00000004u /**< accepted, without effect */
#define NOTIFY_OPT_OLD_IPC 0x00000008u  /**< accepted, without effect */
#define NOTIFY_OPT_ENABLE 0x04000000u   /**< ends NOTIFY_OPT_DISABLE */
#define NOTIFY_OPT_DISABLE 0x08000000u  /**< see notify_set_options() */

/* Apple: a flag of notify_register_mach_port(), which Linux does not have. As with Apple, it has no
 * effect in the flags of notify_register_file_descriptor(). */
#define NOTIFY_NO_DISPATCH 0x80000000

/* The changes that notify_monitor_file() looks for. 0 stands for all of them. */
#define NOTIFY_MONITOR_DELETE 0x0001 /**< it was removed, or can no longer be reached */
#define NOTIFY_MONITOR_WRITE 0x0002  /**< its contents changed */
#define NOTIFY_MONITOR_EXTEND 0x0004 /**< it grew */
#define NOTIFY_MONITOR_ATTRIB 0x0008 /**< its mode or owner changed */
#define NOTIFY_MONITOR_LINK 0x0010   /**< its number of links changed */
#define NOTIFY_MONITOR_RENAME 0x0020 /**< another file replaced it, or it was removed */
#define NOTIFY_MONITOR_REVOKE 0x0040 /**< it can no longer be reached */
#define NOTIFY_MONITOR_CREATE 0x0080 /**< it was created, or can now be reached */
#define NOTIFY_MONITOR_MTIME 0x0100  /**< its time of modification changed */
#define NOTIFY_MONITOR_CTIME 0x0200  /**< its time of change changed */
#define NOTIFY_MONITOR_ALL 0x03ff

DN_BEGIN_DECLS

/** As notify_register_check(), but leaves `out_token` alone when it fails. Threads: any. */
DN_EXPORT uint32_t notify_register_plain(const char *name, int *out_token);

/**
 * Reads the count of posts that notify_check() compares. This is not a check, and does not affect
 * later ones.
 *
 * @param token  of notify_register_check(), notify_register_plain(), or for a `self.` name.
 * @param val    set on success. Only whether it has changed means something.
 *
 * Returns:  NOTIFY_STATUS_OK, _NULL_INPUT if `val` is NULL, _INVALID_TOKEN, _INVALID_REQUEST for
 *           another kind of token.
 * Threads:  any; async-signal-safe.
 */
DN_EXPORT uint32_t notify_peek(int token, uint32_t *val);

/** As notify_post(), its older name. Threads: any. */
DN_EXPORT uint32_t notify_simple_post(const char *name);

/**
 * Delivers to one token when a file changes, as if its name had been posted to it alone.
 *
 * The path need not exist: files and links that appear or disappear anywhere along it are noticed,
 * mounts are not. Changes within 100 ms are one. The process watches with inotify, as its own user;
 * while that user's watches are used up, changes in new directories may be seen late.
 *
 * A name `com.apple.system.notify.service.path:[FLAGS:]PATH` monitors the file for each of its
 * tokens as soon as the token is registered.
 *
 * @param token  not one for a `self.` name; each may monitor one file.
 * @param path   absolute; copied.
 * @param flags  NOTIFY_MONITOR_ values; 0 stands for all.
 *
 * Returns:  NOTIFY_STATUS_OK, _INVALID_TOKEN, _INVALID_REQUEST if `path` is NULL or not absolute,
 *           the name begins with `self.` or the token monitors a file already, _FAILED if memory, a
 *           thread or the watches of the user are used up.
 * Threads:  any.
 */
DN_EXPORT uint32_t notify_monitor_file(int token, char *path, int flags);

/** Sets `ev` and `len` to 0 unless they are NULL: Apple's library no longer has events either.
 *  Returns NOTIFY_STATUS_OK. Threads: any. */
DN_EXPORT uint32_t notify_get_event(int token, int *ev, char *buf, int *len);

/**
 * Sets options of the library in this process. With NOTIFY_OPT_DISABLE posts, registrations and
 * states return NOTIFY_STATUS_OPT_DISABLE and do nothing, except for `self.` names; tokens stay
 * valid, and posts of other processes are delivered. NOTIFY_OPT_ENABLE reverses this.
 *
 * Threads:  any.
 */
DN_EXPORT void notify_set_options(uint32_t opts);

/** Returns NOTIFY_STATUS_INVALID_REQUEST: there is no daemon that could suspend a process. */
DN_EXPORT uint32_t notify_suspend_pid(pid_t pid);

/** Returns NOTIFY_STATUS_INVALID_REQUEST, as notify_suspend_pid() does. */
DN_EXPORT uint32_t notify_resume_pid(pid_t pid);

/** Returns NOTIFY_STATUS_INVALID_REQUEST. Apple's notifyd writes the registrations of all
 *  processes, for root only; here `notifyutil --list` shows the names in use. */
DN_EXPORT uint32_t notify_dump_status(const char *filepath);

/**
 * Closes the parent's descriptors in a child process. For children of _Fork() and clone(), which
 * run no fork handlers: they call it before anything else of the library. Until then the parent's
 * connection and its entry in the table stay. What another thread was opening at that moment stays
 * open. Not for children of vfork().
 *
 * Threads:  any; async-signal-safe.
 * Apple:    called by fork() itself; disables the library in the child.
 */
DN_EXPORT void _notify_fork_child(void);

DN_END_DECLS

#endif
