/* The file of a table: made, verified, removed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Opens the file of the table that belongs to `key`, making it if it is not there, and verifies
 * that it is a table of this version. Returns a descriptor, close-on-exec, or a negative errno:
 * -EACCES if the directory or the file is not ours alone, -EPROTO if it is no such table, or what
 * a system call says. */
int dn__file_open(const char *key);

/* Tells whether the file was removed, so that nobody finds it any more. */
bool dn__file_is_removed(int fd);

/* Reserves memory for a part of the file. Without it a full file system would show itself as a
 * signal, when the mapping is touched. Returns 0 or a negative errno. */
int dn__file_reserve(int fd, size_t offset, size_t n_bytes);

/* Tells whether both descriptors are of one file. */
bool dn__file_is_same(int a, int b);

/* Removes the file, if it still is what the key stands for. */
void dn__file_remove(int fd, const char *key);
