/* The hash map. */
#include "util/map.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"
#include "util/hash.h"

typedef struct element {
        dn__map_entry entry;
        char key[16];
} element;

static element *element_new(int number, uint64_t hash)
{
        element *element = calloc(1, sizeof(*element));

        CHECK(element != NULL);
        snprintf(element->key, sizeof(element->key), "key %d", number);
        element->entry = (dn__map_entry){ NULL, hash, element->key, strlen(element->key) };
        return element;
}

TEST_NO_BUS(everyKeyFindsItsOwnElement)
{
        enum { N = 10000 };
        element **elements = calloc(N, sizeof(*elements));
        dn__map map = { 0 };
        size_t n_walked = 0;

        for (int i = 0; i < N; i++) {
                elements[i] = element_new(i, 0);
                elements[i]->entry.hash = dn__hash64(elements[i]->key, strlen(elements[i]->key));
                CHECK_EQ(dn__map_add(&map, &elements[i]->entry), 0);
        }
        for (int i = 0; i < N; i += 2)
                dn__map_remove(&map, &elements[i]->entry);
        CHECK_EQ(map.n_entries, N / 2);
        for (int i = 0; i < N; i++)
                CHECK(dn__map_find(&map, elements[i]->entry.hash, elements[i]->key,
                                   strlen(elements[i]->key)) ==
                      (i % 2 ? &elements[i]->entry : NULL));
        for (dn__map_entry *entry = dn__map_next(&map, NULL); entry;
             entry = dn__map_next(&map, entry))
                n_walked++;
        CHECK_EQ(n_walked, N / 2);
        dn__map_deinit(&map);
        for (int i = 0; i < N; i++)
                free(elements[i]);
        free(elements);
}

TEST_NO_BUS(equalHashesAreNotEqualKeys)
{
        element *a = element_new(1, 7), *b = element_new(2, 7);
        dn__map map = { 0 };

        CHECK_EQ(dn__map_add(&map, &a->entry), 0);
        CHECK_EQ(dn__map_add(&map, &b->entry), 0);
        CHECK(dn__map_find(&map, 7, "key 1", 5) == &a->entry);
        CHECK(dn__map_find(&map, 7, "key 2", 5) == &b->entry);
        CHECK(dn__map_find(&map, 7, "key", 3) == NULL);
        dn__map_deinit(&map);
        free(a);
        free(b);
}

TEST_MAIN()
