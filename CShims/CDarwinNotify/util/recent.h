/* A map from byte strings to numbers that keeps the most recently used entries. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/list.h"
#include "util/map.h"

/* All zero except `max_entries`: empty. Not locked: protected by its owner's lock. */
typedef struct dn__recent {
        size_t max_entries; /* beyond this the least recently used entry is removed */
        dn__map entries;
        dn__link by_use; /* most recently used first; NULL links: never used */
} dn__recent;

/* Removes all entries and frees their memory. */
void dn__recent_clear(dn__recent *recent);

/* Returns a pointer to the number of a key, borrowed until the next call; the number of a new key
 * is 0. Returns NULL if the key is new and memory is exhausted. */
uint64_t *dn__recent_use(dn__recent *recent, const void *key, size_t n_key_bytes);

/* Removes the keys that begin with a byte string. Scans all keys. */
void dn__recent_forget(dn__recent *recent, const void *prefix, size_t n_prefix_bytes);
