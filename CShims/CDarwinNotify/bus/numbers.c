/* Post numbers, by which a receiver detects missing posts. */
#include "bus/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/list.h"

/* The maximum length of a connection's name on D-Bus. */
#define SENDER_MAX_BYTES 255

typedef struct number {
        dn__map_entry entry;
        dn__link link; /* of a received post: in the list of its rule */
        uint64_t last; /* 0: none yet */
        char key[];
} number;

static void forget_number(dn__map *map, number *number)
{
        dn__map_remove(map, &number->entry);
        dn__list_remove(&number->link);
        free(number);
}

/* Finds each number from the one before. */
static void forget_all(dn__map *map)
{
        dn__map_entry *next = dn__map_next(map, NULL);

        for (dn__map_entry *entry; (entry = next);) {
                next = dn__map_next(map, entry);
                forget_number(map, DN__CONTAINER(entry, number, entry));
        }
        dn__map_deinit(map);
}

static number *add(dn__map *map, uint64_t hash, const void *key, size_t n_bytes)
{
        number *new;

        if (map->n_entries >= DN__NUMBERS_MAX)
                forget_all(map);
        new = calloc(1, sizeof(*new) + n_bytes);
        if (!new)
                return NULL;
        new->entry = (dn__map_entry){ NULL, hash, memcpy(new->key, key, n_bytes), n_bytes };
        if (dn__map_add(map, &new->entry) == 0)
                return new;
        free(new);
        return NULL;
}

/* Returns the number of a key, or NULL if out of memory. */
static number *get(dn__map *map, const void *key, size_t n_bytes)
{
        uint64_t hash = dn__hash64(key, n_bytes);
        dn__map_entry *found = dn__map_find(map, hash, key, n_bytes);

        return found ? DN__CONTAINER(found, number, entry) : add(map, hash, key, n_bytes);
}

void dn__numbers_deinit(dn__numbers *numbers)
{
        forget_all(&numbers->sent);
        forget_all(&numbers->received);
}

uint64_t *dn__numbers_get_last(dn__numbers *numbers, const dn__name *name)
{
        number *number = get(&numbers->sent, name->text, name->n_bytes);

        return number ? &number->last : NULL;
}

/* A number that does not continue from the last one starts a new count: the sender has forgotten
 * its earlier posts of the name. */
uint64_t dn__numbers_note(dn__numbers *numbers, const dn__post *post, dn__link *list)
{
        char key[sizeof(uint64_t) + SENDER_MAX_BYTES];
        size_t n_sender_bytes = strlen(post->origin.sender);
        uint64_t new = post->body.number, n_lost;
        number *number;

        if (!new || n_sender_bytes > SENDER_MAX_BYTES)
                return 0;
        memcpy(key, &post->name.hash, sizeof(uint64_t));
        memcpy(key + sizeof(uint64_t), post->origin.sender, n_sender_bytes);
        number = get(&numbers->received, key, sizeof(uint64_t) + n_sender_bytes);
        if (!number)
                return 0;
        n_lost = number->last && new > number->last ? new - number->last - 1 : 0;
        number->last = new;
        dn__list_remove(&number->link);
        dn__list_append(list, &number->link);
        return n_lost;
}

void dn__numbers_forget(dn__numbers *numbers, dn__link *list)
{
        number *first;

        while ((first = DN__LIST_FIRST(number, list, link)))
                forget_number(&numbers->received, first);
}

void dn__numbers_forget_all(dn__numbers *numbers)
{
        forget_all(&numbers->received);
}
