/* The file of a table: creates, verifies and removes it. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens the table file of `key`, creating it if needed; anything at its path that is not a table of
 * this version is put aside. Returns a close-on-exec descriptor and the path; or a negative errno:
 * -EACCES if there is no private directory, -EFBIG if the process's file size limit is too low to
 * create it, or the error of a system call. */
int dn__file_open(const char *key, char ret_path[PATH_MAX]);

/* Returns whether the file was removed, so that nobody can find it any more. */
bool dn__file_is_removed(int fd);

/* Returns whether others still find this file at its path, and it has the size of a table. */
bool dn__file_is_in_place(const struct stat *file, const char *path);

/* Reserves memory for part of the file. Otherwise a full file system would show up as a signal on
 * access to the mapping. Returns 0 or a negative errno. */
int dn__file_reserve(int fd, size_t offset, size_t n_bytes);

/* Returns whether both descriptors refer to the same file. */
bool dn__file_is_same(int a, int b);

/* Removes the file if it is still the one at the path. */
void dn__file_remove(const struct stat *file, const char *path);
