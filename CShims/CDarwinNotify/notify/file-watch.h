/* Telling when a file changes, whatever happens on the way to it. */
#pragma once

typedef struct dn__file_watch dn__file_watch;

/* Watches an absolute path for the NOTIFY_MONITOR_ changes in `flags` (0: all). `changed` is called
 * on the thread that watches, which all files of the process share, with `token`; no lock is
 * held. Changes within 100 ms are one call. Returns 0 or a negative errno. */
int dn__file_watch_new(const char *path, unsigned flags, void (*changed)(int token), int token,
                       dn__file_watch **ret_watch);

/* Ends it. A call of `changed` that is running, or about to, is not waited for. NULL is allowed,
 * and so is a watch of the process that this one was forked from, which is left alone. Returns
 * NULL. */
dn__file_watch *dn__file_watch_free(dn__file_watch *watch);
