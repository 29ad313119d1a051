/* Reading property lists. */
#include "post/dict.h"

#include <stdlib.h>
#include <string.h>

/* --- References ---------------------------------------------------------------------------- */

void dn__item_free(dn__item *item)
{
        dn__container_unref(item ? dn__value_get_container(&item->value) : NULL);
        free(item);
}

/* Recurses at most DN_DICT_MAX_DEPTH levels. */
void dn__container_unref(dn__container *container)
{
        if (!container ||
            atomic_fetch_sub_explicit(&container->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        for (size_t i = 0; i < container->n_items; i++)
                dn__item_free(container->items[i]);
        free(container);
}

dn_dict *dn_dict_ref(const dn_dict *dict)
{
        dn_dict *shared = (dn_dict *)dict;

        if (shared)
                atomic_fetch_add_explicit(&shared->container.n_refs, 1, memory_order_relaxed);
        return shared;
}

dn_dict *dn_dict_unref(const dn_dict *dict)
{
        if (dict)
                dn__container_unref((dn__container *)&dict->container);
        return NULL;
}

/* --- Any type ------------------------------------------------------------------------------ */

size_t dn_dict_get_count(const dn_dict *dict)
{
        return dict ? dict->container.n_items : 0;
}

static int compare_key(const void *key, const void *item)
{
        return strcmp(key, (*(dn__item *const *)item)->key);
}

bool dn_dict_get(const dn_dict *dict, const char *key, dn_value *ret_value)
{
        dn__item *const *found = NULL;

        if (dict && key)
                found = bsearch(key, dict->container.items, dict->container.n_items,
                                sizeof(dn__item *), compare_key);
        if (found && ret_value)
                *ret_value = (*found)->value;
        return found != NULL;
}

const char *dn_dict_get_at(const dn_dict *dict, size_t index, dn_value *ret_value)
{
        if (index >= dn_dict_get_count(dict))
                return NULL;
        if (ret_value)
                *ret_value = dict->container.items[index]->value;
        return dict->container.items[index]->key;
}

size_t dn_array_get_count(const dn_array *array)
{
        return array ? array->container.n_items : 0;
}

bool dn_array_get(const dn_array *array, size_t index, dn_value *ret_value)
{
        if (index >= dn_array_get_count(array))
                return false;
        if (ret_value)
                *ret_value = array->container.items[index]->value;
        return true;
}

/* --- One type ------------------------------------------------------------------------------ */

/* Returns the value if it has that type, or else one of type 0, which is 0 or NULL. */
static dn_value find_typed(const dn_dict *dict, const char *key, int type)
{
        dn_value value;

        return dn_dict_get(dict, key, &value) && value.type == type ? value : (dn_value){ 0 };
}

const char *dn_dict_get_string(const dn_dict *dict, const char *key)
{
        return find_typed(dict, key, DN_TYPE_STRING).as.string;
}

bool dn_dict_get_bool(const dn_dict *dict, const char *key, bool otherwise)
{
        dn_value value = find_typed(dict, key, DN_TYPE_BOOL);

        return value.type ? value.as.boolean : otherwise;
}

int64_t dn_dict_get_int64(const dn_dict *dict, const char *key, int64_t otherwise)
{
        dn_value value = find_typed(dict, key, DN_TYPE_INT64);

        return value.type ? value.as.int64 : otherwise;
}

uint64_t dn_dict_get_uint64(const dn_dict *dict, const char *key, uint64_t otherwise)
{
        dn_value value = find_typed(dict, key, DN_TYPE_UINT64);
        int64_t small = dn_dict_get_int64(dict, key, -1);

        return value.type ? value.as.uint64 : small >= 0 ? (uint64_t)small : otherwise;
}

double dn_dict_get_double(const dn_dict *dict, const char *key, double otherwise)
{
        dn_value value = find_typed(dict, key, DN_TYPE_DOUBLE);

        return value.type ? value.as.real : otherwise;
}

const void *dn_dict_get_data(const dn_dict *dict, const char *key, size_t *ret_n_bytes)
{
        dn_value value = find_typed(dict, key, DN_TYPE_DATA);

        if (ret_n_bytes)
                *ret_n_bytes = value.n_bytes;
        return value.as.data;
}

int64_t dn_dict_get_date(const dn_dict *dict, const char *key, int64_t otherwise)
{
        dn_value value = find_typed(dict, key, DN_TYPE_DATE);

        return value.type ? value.as.date_us : otherwise;
}

const dn_array *dn_dict_get_array(const dn_dict *dict, const char *key)
{
        return find_typed(dict, key, DN_TYPE_ARRAY).as.array;
}

const dn_dict *dn_dict_get_dict(const dn_dict *dict, const char *key)
{
        return find_typed(dict, key, DN_TYPE_DICT).as.dict;
}
