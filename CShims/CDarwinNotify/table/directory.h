/* The directories in which the table of a user may be. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* A table is a file in a subdirectory `darwin-notify` of one of these directories: the first in
 * which there is a table. A new table is made in the first possible one, whose file system has all
 * that a table needs:
 *
 *   - the directory of the socket, if the key is a D-Bus address (`unix:path=`) and no other user
 *     can look into that directory;
 *   - $XDG_RUNTIME_DIR;
 *   - /run/user/UID;
 *   - /dev/shm, there as darwin-notify-UID, or, if somebody else has that name, as one of
 *     darwin-notify-UID.1 to .3. */
typedef struct dn__directory {
        uid_t user;
        unsigned choice; /* 0: before the first */
        char path[PATH_MAX];
} dn__directory;

/* The file in a directory is called by a name of at most this size. */
#define DN__DIRECTORY_NAME_BYTES 40

/* Moves to the next directory for the tables of a key. Returns false after the last. */
bool dn__directory_next(dn__directory *directory, const char *key);

/* Returns whether anyone may create names beside this one. */
bool dn__directory_is_public(const dn__directory *directory);

/* Returns whether a process of the user can have a table there. */
bool dn__directory_is_usable(const dn__directory *directory);

/* Returns a descriptor, -EACCES if the directory is not private, or the error of a system call,
 * which dn__failure_take() returns. `may_make`: makes it if needed. */
int dn__directory_open(const dn__directory *directory, bool may_make);
