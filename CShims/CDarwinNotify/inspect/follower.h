/* Reports the posts that the shared table counts, while there is no bus to report them. */
#pragma once

#include <stdbool.h>

#include "darwinnotify/inspect.h"
#include "inspect/lookout.h"

typedef struct dn__follower dn__follower;

/* Opens the table of `key` (the scope of an address). Later posts are new. Returns 0 or a negative
 * errno. */
int dn__follower_open(const char *key, dn__follower **ret_follower);

/* Starts following the table: posts since the follower was opened that have not been reported are
 * read next. Returns 0 or -ENOMEM. */
int dn__follower_resume(dn__follower *follower);

/* Stops following: only earlier posts are read after this. */
void dn__follower_pause(dn__follower *follower);

/* Returns what to wait for before the next reading, and lowers the deadline if that must come
 * earlier. Call it while paused, too: the table may be replaced. */
void dn__follower_prepare(dn__follower *follower, struct pollfd ret_waits[DN__LOOKOUT_N_WAITS],
                          uint64_t *until_us);

/* Moves to the next table if this one was removed or replaced. Reading does so, too. */
void dn__follower_keep_up(dn__follower *follower);

/* Reports new posts of names that begin with the prefix. Returns 0, or what the callback returned
 * if not 0. */
int dn__follower_read(dn__follower *follower, const char *prefix, const dn_watcher *watcher);

/* Notes a post that was seen on a bus. Returns whether it is new: no read has reported it. */
bool dn__follower_note(dn__follower *follower, const dn_post_record *record);

/* NULL is allowed. Returns NULL. */
dn__follower *dn__follower_close(dn__follower *follower);
