/* A map from byte strings to numbers that keeps the most recently used entries. */
#include "util/recent.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

typedef struct entry {
        dn__map_entry entry;
        dn__link link;
        uint64_t number;
        char key[];
} entry;

static void entry_free(dn__recent *recent, entry *entry)
{
        dn__map_remove(&recent->entries, &entry->entry);
        dn__list_remove(&entry->link);
        free(entry);
}

void dn__recent_clear(dn__recent *recent)
{
        while (recent->entries.n_entries > 0)
                entry_free(recent, DN__CONTAINER(recent->by_use.next, entry, link));
        dn__map_deinit(&recent->entries);
        recent->entries = (dn__map){ 0 };
}

static entry *add(dn__recent *recent, uint64_t hash, const void *key, size_t n_key_bytes)
{
        entry *new;

        if (!recent->by_use.next)
                dn__list_init(&recent->by_use);
        new = malloc(sizeof(*new) + n_key_bytes);
        if (!new)
                return NULL;
        memcpy(new->key, key, n_key_bytes);
        new->number = 0;
        new->link = (dn__link){ 0 };
        new->entry = (dn__map_entry){ NULL, hash, new->key, n_key_bytes };
        if (dn__map_add(&recent->entries, &new->entry) < 0) {
                free(new);
                return NULL;
        }
        if (recent->entries.n_entries > recent->max_entries)
                entry_free(recent, DN__CONTAINER(recent->by_use.previous, entry, link));
        return new;
}

uint64_t *dn__recent_use(dn__recent *recent, const void *key, size_t n_key_bytes)
{
        uint64_t hash = dn__hash64(key, n_key_bytes);
        dn__map_entry *found = dn__map_find(&recent->entries, hash, key, n_key_bytes);
        entry *used;

        used = found ? DN__CONTAINER(found, entry, entry) : add(recent, hash, key, n_key_bytes);
        if (!used)
                return NULL;
        dn__list_remove(&used->link);
        dn__list_insert(&recent->by_use, &used->link);
        return &used->number;
}

void dn__recent_forget(dn__recent *recent, const void *prefix, size_t n_prefix_bytes)
{
        dn__link *link = recent->by_use.next;

        while (link && link != &recent->by_use) {
                entry *entry = DN__CONTAINER(link, struct entry, link);

                link = link->next;
                if (entry->entry.n_key_bytes >= n_prefix_bytes &&
                    memcmp(entry->key, prefix, n_prefix_bytes) == 0)
                        entry_free(recent, entry);
        }
}
