/* Reports changes of a file, including changes along its path. */
#pragma once

typedef struct dn__file_watch dn__file_watch;

/* Watches an absolute path for the NOTIFY_MONITOR_ changes in `flags` (0: all). `changed` is called
 * with `token` on the thread that all watches of the process share, with no lock held. Changes
 * within 100 ms are reported once; one within a few milliseconds of the look that reports it may be
 * reported twice. Returns 0, -ENOMEM if there is no memory or descriptor, -EAGAIN if there is no
 * thread, or -ENOSPC if the user's watches are used up. */
int dn__file_watch_new(const char *path, unsigned flags, void (*changed)(int token), int token,
                       dn__file_watch **ret_watch);

/* Stops watching. Does not wait for a call of `changed` that is running or about to run. NULL is
 * allowed; a watch inherited from the parent process is left alone. Returns NULL. */
dn__file_watch *dn__file_watch_free(dn__file_watch *watch);

/* Ends the thread, when nothing is watched any more. Does not wait for it. */
void dn__files_close(void);
