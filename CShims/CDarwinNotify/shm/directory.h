/* The private directory that shared files of the user live in. */
#pragma once

/* Opens (and makes, 0700) $XDG_RUNTIME_DIR/darwin-notify; where that variable is unset, or names
 * a directory of somebody else (as after sudo), /dev/shm/darwin-notify-UID. Returns a descriptor,
 * close-on-exec, or -EACCES if what is there is not ours alone, or another negative errno. */
int dn__directory_open(void);
