/* Internal representation of property lists. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "darwinnotify/dict.h"

/* A value and, in a dictionary, its key. Owns what the value points to: a container, or bytes
 * stored after the key. */
typedef struct dn__item {
        dn_value value;
        size_t order; /* while building: position in the order of setting */
        char key[];
} dn__item;

typedef struct dn__container {
        _Atomic unsigned n_refs;
        unsigned depth;  /* nesting depth, counting itself */
        size_t n_values; /* values contained at any depth */
        size_t n_bytes;  /* as DN_DICT_MAX_BYTES counts them */
        size_t n_items;
        dn__item *items[]; /* sorted by key in a dictionary */
} dn__container;

struct dn_dict {
        dn__container container;
};

struct dn_array {
        dn__container container;
};

/* Returns the container behind a value, or NULL. The container is the first member of both
 * types. */
static inline dn__container *dn__value_get_container(const dn_value *value)
{
        if (value->type == DN_TYPE_DICT)
                return (dn__container *)value->as.dict;
        return value->type == DN_TYPE_ARRAY ? (dn__container *)value->as.array : NULL;
}

/* Releases a reference. */
void dn__container_unref(dn__container *container);

/* Frees an item and what it owns. NULL is allowed. */
void dn__item_free(dn__item *item);

/* Returns a builder's first error, or 0. Callers can stop building after an error. */
int dn__dict_builder_get_error(const dn_dict_builder *builder);

/* Returns the size of a dictionary as DN_DICT_MAX_BYTES counts it; 0 for NULL. */
static inline size_t dn__dict_get_bytes(const dn_dict *dict)
{
        return dict ? dict->container.n_bytes : 0;
}
