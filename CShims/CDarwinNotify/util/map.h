/* A hash map from byte strings to intrusive entries. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/hash.h"
#include "util/list.h"

/* Embedded in an element. The key is borrowed and must live as long as the element is in the
 * map. */
typedef struct dn__map_entry {
        struct dn__map_entry *next;
        uint64_t hash;
        const void *key;
        size_t n_key_bytes;
} dn__map_entry;

/* Returns an entry for a key, not yet in a map. */
static inline dn__map_entry dn__map_key(const void *key, size_t n_bytes)
{
        return (dn__map_entry){ NULL, dn__hash64(key, n_bytes), key, n_bytes };
}

/* All zero: an empty map. */
typedef struct dn__map {
        dn__map_entry **buckets;
        size_t n_buckets; /* a power of two, or 0 */
        size_t n_entries;
} dn__map;

static inline dn__map_entry **dn__map_bucket_of(const dn__map *map, uint64_t hash)
{
        return &map->buckets[hash & (map->n_buckets - 1)];
}

/* Frees the buckets; the elements belong to their owners. */
void dn__map_deinit(dn__map *map);

/* Returns the entry of a key, or NULL. `hash` is dn__hash64() of the key. */
static inline dn__map_entry *dn__map_find(const dn__map *map, uint64_t hash, const void *key,
                                          size_t n_key_bytes)
{
        if (!map->n_buckets)
                return NULL;
        for (dn__map_entry *entry = *dn__map_bucket_of(map, hash); entry; entry = entry->next)
                if (entry->hash == hash && entry->n_key_bytes == n_key_bytes &&
                    memcmp(entry->key, key, n_key_bytes) == 0)
                        return entry;
        return NULL;
}

/* Does the same for a NUL-terminated text; the NUL is not part of the key. */
static inline dn__map_entry *dn__map_find_text(const dn__map *map, const char *text)
{
        size_t n_bytes = strlen(text);

        return dn__map_find(map, dn__hash64(text, n_bytes), text, n_bytes);
}

/* Adds an entry with its hash, key and n_key_bytes set; the key must not be in the map yet. Returns
 * 0, or -ENOMEM if not even the first buckets can be allocated. */
int dn__map_add(dn__map *map, dn__map_entry *entry);

/* Makes sure that the next dn__map_add() succeeds. Returns as that. */
int dn__map_make_room(dn__map *map);

/* Removes an entry that is in the map. */
void dn__map_remove(dn__map *map, dn__map_entry *entry);

/* DN__MAP_EACH(element_type, element, &map, entry) ... visits the elements of a map that does not
 * change meanwhile, in no particular order. */
#define DN__MAP_EACH(type, element, map, member)                                                   \
        for (dn__map_entry *at_##element = dn__map_next((map), NULL); at_##element;                \
             at_##element = dn__map_next((map), at_##element))                                     \
                for (type *element = DN__CONTAINER(at_##element, type, member); element;           \
                     element = NULL)

/* Iterates in no particular order: pass NULL to start; returns NULL at the end. The map must not
 * change during the iteration, except that the previously returned entry may be removed once the
 * next is known. */
dn__map_entry *dn__map_next(const dn__map *map, const dn__map_entry *entry);
