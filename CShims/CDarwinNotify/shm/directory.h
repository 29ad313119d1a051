/* The user's private directory for shared files. */
#pragma once

#include <limits.h>

/* Opens the directory `darwin-notify`, creating it (mode 0700) if needed. All processes of the user
 * with the same key get the same directory, as far as their environments allow. It is in the first
 * of these places that exists and is private:
 *
 *   - the directory of the socket, if the key is a D-Bus address (`unix:path=`) and no other user
 *     can read that directory;
 *   - $XDG_RUNTIME_DIR;
 *   - /run/user/UID;
 *   - /dev/shm, as darwin-notify-UID, or darwin-notify-UID.N if somebody else took that name.
 *
 * Returns a close-on-exec descriptor and the path; or a negative errno: -EACCES if the place is not
 * private to this user, or the error of a system call. */
int dn__directory_open(const char *key, char ret_path[PATH_MAX]);
