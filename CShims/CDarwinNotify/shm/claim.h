/* Claims on the entries of a table, released by the kernel when a process dies. */
#pragma once

#include <stdbool.h>

/* Everything that any version of the library can claim in a file. */
#define DN__CLAIM_ALL 0, 0

/* Claims `n` entries from `first` on for the open file description; 0 means all that follow. Never
 * waits. Returns 0, or a negative errno if another description has one of them. */
int dn__claim_take(int fd, unsigned first, unsigned n);

/* Releases claims. */
void dn__claim_release(int fd, unsigned first, unsigned n);

/* Returns whether another description has the entry; true if in doubt. */
bool dn__claim_is_taken(int fd, unsigned entry);

/* Returns whether a single other description has all of the first `n` entries. */
bool dn__claim_is_of_one(int fd, unsigned n);
