/* Building property lists. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "post/dict.h"
#include "util/text.h"

/* A container under construction: the items that start at `first`. Its own item is before them. */
typedef struct level {
        size_t first;
        bool is_dict;
} level;

struct dn_dict_builder {
        int error; /* the first one, or 0 */
        size_t n_values; /* values set so far, including replaced ones */
        size_t n_bytes;
        unsigned n_levels;
        level levels[DN_DICT_MAX_DEPTH]; /* the outermost first */
        dn__item **items; /* of all levels */
        size_t n_items;
        size_t n_allocated;
};

dn_dict_builder *dn_dict_builder_new(void)
{
        dn_dict_builder *builder = malloc(sizeof(*builder)); /* calloc() costs twice as much */

        if (builder)
                *builder = (dn_dict_builder){ .n_levels = 1, .levels[0].is_dict = true };
        return builder;
}

dn_dict_builder *dn_dict_builder_free(dn_dict_builder *builder)
{
        if (!builder)
                return NULL;
        for (size_t i = 0; i < builder->n_items; i++)
                dn__item_free(builder->items[i]);
        free(builder->items);
        free(builder);
        return NULL;
}

int dn__dict_builder_get_error(const dn_dict_builder *builder)
{
        return builder ? builder->error : -ENOMEM;
}

/* --- Items --------------------------------------------------------------------------------- */

/* Accounts for a value of `n_bytes` bytes, including its key, and for what it contains. */
static int builder_count(dn_dict_builder *builder, size_t n_bytes, const dn__container *contained)
{
        size_t n_left = DN_DICT_MAX_BYTES - builder->n_bytes;

        builder->n_values += 1 + (contained ? contained->n_values : 0);
        if (builder->n_values > DN_DICT_MAX_VALUES || n_bytes > n_left ||
            n_left - n_bytes < DN_DICT_VALUE_BYTES + (contained ? contained->n_bytes : 0))
                return -E2BIG;
        builder->n_bytes +=
                n_bytes + DN_DICT_VALUE_BYTES + (contained ? contained->n_bytes : 0);
        return 0;
}

/* Values in a dictionary have keys; values in an array do not. */
static bool is_key_valid(dn_dict_builder *builder, const char *key, size_t n_bytes)
{
        return builder->levels[builder->n_levels - 1].is_dict == !!key &&
               (!key || dn__utf8_is_valid(key, n_bytes));
}

static bool make_room_for_item(dn_dict_builder *builder)
{
        size_t n_allocated = builder->n_allocated ? 2 * builder->n_allocated : 8;
        dn__item **items;

        if (builder->n_items < builder->n_allocated)
                return true;
        items = realloc(builder->items, n_allocated * sizeof(dn__item *));
        if (!items)
                return false;
        builder->items = items;
        builder->n_allocated = n_allocated;
        return true;
}

/* Adds a key and a validated value. The bytes are copied; a container is retained. */
static int add_item(dn_dict_builder *builder, const char *key, const dn_value *value)
{
        dn__container *container = dn__value_get_container(value);
        size_t n_key_bytes = key ? strlen(key) : 0;
        bool has_bytes = value->type == DN_TYPE_STRING || value->type == DN_TYPE_DATA;
        dn__item *item;
        char *bytes;
        int r;

        if (!is_key_valid(builder, key, n_key_bytes))
                return -EINVAL;
        r = builder_count(builder, n_key_bytes + value->n_bytes, container);
        if (r < 0)
                return r;
        if (!make_room_for_item(builder))
                return -ENOMEM;
        item = malloc(sizeof(*item) + n_key_bytes + value->n_bytes + 2);
        if (!item)
                return -ENOMEM;
        item->value = *value;
        item->order = builder->n_values;
        memcpy(item->key, key ? key : "", n_key_bytes + 1);
        if (has_bytes) {
                bytes = item->key + n_key_bytes + 1;
                if (value->n_bytes)
                        memcpy(bytes, value->as.data, value->n_bytes);
                bytes[value->n_bytes] = '\0';
                item->value.as.data = bytes;
        }
        if (container)
                atomic_fetch_add_explicit(&container->n_refs, 1, memory_order_relaxed);
        builder->items[builder->n_items++] = item;
        return 0;
}

static bool is_value_valid(const dn_value *value)
{
        switch (value->type) {
        case DN_TYPE_STRING:
                return value->as.string && !memchr(value->as.string, '\0', value->n_bytes) &&
                       dn__utf8_is_valid(value->as.string, value->n_bytes);
        case DN_TYPE_DATA: return value->as.data || !value->n_bytes;
        case DN_TYPE_ARRAY: return value->as.array;
        case DN_TYPE_DICT: return value->as.dict;
        default: return value->type >= DN_TYPE_STRING && value->type <= DN_TYPE_DICT;
        }
}

/* --- Setting ------------------------------------------------------------------------------- */

/* Returns the value in its stored form: an integer that fits in int64 is stored as int64. */
static dn_value normalize(const dn_value *value)
{
        bool has_bytes = value->type == DN_TYPE_STRING || value->type == DN_TYPE_DATA;
        dn_value normal = *value;

        if (!has_bytes)
                normal.n_bytes = 0;
        if (value->type == DN_TYPE_UINT64 && value->as.uint64 <= INT64_MAX) {
                normal.type = DN_TYPE_INT64;
                normal.as.int64 = (int64_t)value->as.uint64;
        }
        return normal;
}

static int check_value(const dn_dict_builder *builder, const dn_value *value)
{
        const dn__container *container = dn__value_get_container(value);

        if (value->n_bytes > DN_DICT_MAX_BYTES)
                return -E2BIG;
        if (!is_value_valid(value))
                return -EINVAL;
        return container && builder->n_levels + container->depth > DN_DICT_MAX_DEPTH ? -E2BIG : 0;
}

void dn_dict_builder_set(dn_dict_builder *builder, const char *key, const dn_value *value)
{
        dn_value normal;

        if (!builder || builder->error)
                return;
        normal = value ? normalize(value) : (dn_value){ 0 };
        builder->error = check_value(builder, &normal);
        if (!builder->error)
                builder->error = add_item(builder, key, &normal);
}

void dn_dict_builder_set_string(dn_dict_builder *builder, const char *key, const char *string)
{
        dn_dict_builder_set(builder, key,
                            &(dn_value){ DN_TYPE_STRING, string ? strlen(string) : 0,
                                         { .string = string } });
}

void dn_dict_builder_set_bool(dn_dict_builder *builder, const char *key, bool boolean)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_BOOL, 0, { .boolean = boolean } });
}

void dn_dict_builder_set_int64(dn_dict_builder *builder, const char *key, int64_t number)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_INT64, 0, { .int64 = number } });
}

void dn_dict_builder_set_uint64(dn_dict_builder *builder, const char *key, uint64_t number)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_UINT64, 0, { .uint64 = number } });
}

void dn_dict_builder_set_double(dn_dict_builder *builder, const char *key, double number)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_DOUBLE, 0, { .real = number } });
}

void dn_dict_builder_set_data(dn_dict_builder *builder, const char *key, const void *data,
                              size_t n_bytes)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_DATA, n_bytes, { .data = data } });
}

void dn_dict_builder_set_date(dn_dict_builder *builder, const char *key, int64_t date_us)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_DATE, 0, { .date_us = date_us } });
}

/* --- Containers ---------------------------------------------------------------------------- */

static void begin(dn_dict_builder *builder, const char *key, int type)
{
        static const dn_value nothing;

        if (!builder || builder->error)
                return;
        builder->error = builder->n_levels == DN_DICT_MAX_DEPTH ? -E2BIG
                                                                : add_item(builder, key, &nothing);
        if (!builder->error)
                builder->levels[builder->n_levels++] =
                        (level){ builder->n_items, type == DN_TYPE_DICT };
}

void dn_dict_builder_begin_dict(dn_dict_builder *builder, const char *key)
{
        begin(builder, key, DN_TYPE_DICT);
}

void dn_dict_builder_begin_array(dn_dict_builder *builder, const char *key)
{
        begin(builder, key, DN_TYPE_ARRAY);
}

static int compare_items(const void *left, const void *right)
{
        const dn__item *a = *(dn__item *const *)left, *b = *(dn__item *const *)right;
        int order = strcmp(a->key, b->key);

        return order ? order : a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts items by key; the last of several equal keys wins. Returns how many are left. */
static size_t sort_items(dn__item **items, size_t n_items)
{
        size_t n = 0;

        if (n_items)
                qsort(items, n_items, sizeof(dn__item *), compare_items);
        for (size_t i = 0; i < n_items; i++) {
                if (n > 0 && strcmp(items[n - 1]->key, items[i]->key) == 0)
                        dn__item_free(items[--n]);
                items[n++] = items[i];
        }
        return n;
}

static void container_add_item(dn__container *container, dn__item *item)
{
        const dn__container *inner = dn__value_get_container(&item->value);
        unsigned depth = 1 + (inner ? inner->depth : 0);

        container->items[container->n_items++] = item;
        container->n_values += 1 + (inner ? inner->n_values : 0);
        container->n_bytes += DN_DICT_VALUE_BYTES + strlen(item->key) + item->value.n_bytes +
                              (inner ? inner->n_bytes : 0);
        if (container->depth < depth)
                container->depth = depth;
}

/* Moves the items of the innermost level into a container. Returns NULL if out of memory. */
static dn__container *finish_level(dn_dict_builder *builder)
{
        const level *level = &builder->levels[builder->n_levels - 1];
        size_t n_items = builder->n_items - level->first;
        dn__item **items = n_items ? &builder->items[level->first] : NULL;
        dn__container *container;

        if (level->is_dict)
                n_items = sort_items(items, n_items);
        builder->n_items = level->first + n_items;
        container = malloc(sizeof(*container) + n_items * sizeof(dn__item *));
        if (!container)
                return NULL;
        *container = (dn__container){ .n_refs = 1, .depth = 1 };
        for (size_t i = 0; i < n_items; i++)
                container_add_item(container, items[i]);
        builder->n_items = level->first;
        return container;
}

void dn_dict_builder_end(dn_dict_builder *builder)
{
        dn__container *container;
        dn_value *value;

        if (!builder || builder->error)
                return;
        container = builder->n_levels > 1 ? finish_level(builder) : NULL;
        if (!container) {
                builder->error = builder->n_levels > 1 ? -ENOMEM : -EINVAL;
                return;
        }
        value = &builder->items[builder->n_items - 1]->value;
        if (builder->levels[--builder->n_levels].is_dict)
                *value = (dn_value){ DN_TYPE_DICT, 0, { .dict = (dn_dict *)container } };
        else
                *value = (dn_value){ DN_TYPE_ARRAY, 0, { .array = (dn_array *)container } };
}

int dn_dict_builder_finish(dn_dict_builder *builder, dn_dict **ret_dict)
{
        dn__container *container = NULL;
        int r = dn__dict_builder_get_error(builder);

        if (r == 0 && (!ret_dict || builder->n_levels != 1))
                r = -EINVAL;
        if (r == 0) {
                container = finish_level(builder);
                r = container ? 0 : -ENOMEM;
        }
        if (r == 0)
                *ret_dict = (dn_dict *)container;
        (void)dn_dict_builder_free(builder);
        return r;
}
