/* Recognizes what was seen before. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of some bytes that follow others, whose hash is `hash` (at first HASH_EMPTY). */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes);

#define HASH_EMPTY UINT64_C(14695981039346656037)

/* Returns the hash of the contents of a file, at most its first MiB; HASH_EMPTY if it is empty or
 * cannot be read. */
uint64_t hash_file(const char *path);
