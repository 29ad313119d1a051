/* The file of a table. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "table/layout.h"

/* A file that is mapped already. */
typedef struct dn__file_id {
        const char *path;
        struct stat status;
} dn__file_id;

/* Finds the table of `key` that all processes of the user share. Makes nothing, waits for nothing.
 *
 * Returns a close-on-exec descriptor and its path, or a negative errno: -EALREADY if it is `known`,
 * which may be NULL; -ENOENT if there is none; or another error, if this is unknown. */
int dn__file_find(const char *key, const dn__file_id *known, char ret_path[PATH_MAX]);

/* Makes the table where dn__file_find() finds it. A file that has its name but is not a table of
 * this version is put aside. Returns a descriptor, perhaps of a table that another process has just
 * made, or a negative errno: -EACCES if no directory is private, -EFBIG if the process's
 * file size limit is too low, -EPROTO if others keep replacing it, or that of a system call, which
 * dn__failure_take() returns. */
int dn__file_make(const char *key, char ret_path[PATH_MAX]);

/* Returns whether this user has a directory for tables. Makes one if needed. */
bool dn__file_has_directory(const char *key);

/* Returns whether this library could have written the beginning of a table. */
bool dn__file_is_sound(const dn__shm_header *header, uint64_t n_processes_used);

/* Claims a number in a file for the open file description. The claim ends when the description is
 * closed and no mapping of it is left, at the latest when the process dies. Never waits. Returns 0,
 * -EAGAIN if another description has the number, or another error where there are no claims. */
int dn__claim_take(int fd, unsigned number);

/* Returns whether another description has any of `n` numbers; true if unsure. */
bool dn__claim_is_taken(int fd, unsigned first, unsigned n);
