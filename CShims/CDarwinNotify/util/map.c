/* A hash map from byte strings to intrusive entries. */
#include "util/map.h"

#include <errno.h>
#include <stdlib.h>

/* Enough for the few names that a typical process observes; a power of two. */
#define N_FIRST_BUCKETS 16

void dn__map_deinit(dn__map *map)
{
        free(map->buckets);
        *map = (dn__map){ 0 };
}

static int grow(dn__map *map)
{
        size_t n_buckets = map->n_buckets ? 2 * map->n_buckets : N_FIRST_BUCKETS;
        dn__map grown = { calloc(n_buckets, sizeof(dn__map_entry *)), n_buckets, map->n_entries };

        if (!grown.buckets)
                return -ENOMEM;
        for (size_t i = 0; i < map->n_buckets; i++) {
                for (dn__map_entry *entry = map->buckets[i], *next; entry; entry = next) {
                        dn__map_entry **bucket = dn__map_bucket_of(&grown, entry->hash);

                        next = entry->next;
                        entry->next = *bucket;
                        *bucket = entry;
                }
        }
        free(map->buckets);
        *map = grown;
        return 0;
}

/* A map that cannot grow still works, only slower. */
int dn__map_make_room(dn__map *map)
{
        return map->n_entries < map->n_buckets || grow(map) == 0 || map->n_buckets ? 0 : -ENOMEM;
}

int dn__map_add(dn__map *map, dn__map_entry *entry)
{
        dn__map_entry **bucket;

        if (dn__map_make_room(map) < 0)
                return -ENOMEM;
        bucket = dn__map_bucket_of(map, entry->hash);
        entry->next = *bucket;
        *bucket = entry;
        map->n_entries++;
        return 0;
}

void dn__map_remove(dn__map *map, dn__map_entry *entry)
{
        dn__map_entry **position = dn__map_bucket_of(map, entry->hash);

        while (*position != entry)
                position = &(*position)->next;
        *position = entry->next;
        entry->next = NULL;
        map->n_entries--;
}

dn__map_entry *dn__map_next(const dn__map *map, const dn__map_entry *entry)
{
        size_t bucket = 0;

        if (entry) {
                if (entry->next)
                        return entry->next;
                bucket = (entry->hash & (map->n_buckets - 1)) + 1;
        }
        for (; bucket < map->n_buckets; bucket++)
                if (map->buckets[bucket])
                        return map->buckets[bucket];
        return NULL;
}
