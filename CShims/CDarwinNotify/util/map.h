/* A hash map from byte strings to elements that carry their own link. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Embedded in an element. The key is borrowed and lives as long as the element is in the map. */
typedef struct dn__map_entry {
        struct dn__map_entry *next;
        uint64_t hash;
        const void *key;
        size_t n_key_bytes;
} dn__map_entry;

/* All zero is an empty map. */
typedef struct dn__map {
        dn__map_entry **buckets;
        size_t n_buckets; /* a power of two, or 0 */
        size_t n_entries;
} dn__map;

/* Frees the buckets; the elements are their owners' affair. */
void dn__map_deinit(dn__map *map);

/* Returns the entry of the key, or NULL. `hash` is dn__hash64() of the key. */
dn__map_entry *dn__map_find(const dn__map *map, uint64_t hash, const void *key, size_t n_key_bytes);

/* Adds an entry whose hash, key and n_key_bytes are set and whose key is not in the map yet.
 * Returns 0, or -ENOMEM when not even the first buckets can be had. */
int dn__map_add(dn__map *map, dn__map_entry *entry);

/* Takes an entry out that is in the map. */
void dn__map_remove(dn__map *map, dn__map_entry *entry);

/* Walks the map in no particular order: NULL starts, NULL is the end. The map must not change
 * during the walk, but the entry that was returned last may be removed after the next is known. */
dn__map_entry *dn__map_next(const dn__map *map, const dn__map_entry *entry);
