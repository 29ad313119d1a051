/* Property lists as D-Bus values (docs/wire.md). */
#include "bus/values.h"

#include <errno.h>
#include <string.h>

#include "post/dict.h"

/* --- Writing ------------------------------------------------------------------------------- */

static int append_array(sd_bus_message *message, const dn_array *array);

/* The signature inside the variant of a value, indexed by the types of dict.h. */
static const char *const signatures[] = {
        [DN_TYPE_STRING] = "s", [DN_TYPE_BOOL] = "b",   [DN_TYPE_INT64] = "x",
        [DN_TYPE_UINT64] = "t", [DN_TYPE_DOUBLE] = "d", [DN_TYPE_DATA] = "ay",
        [DN_TYPE_DATE] = "(x)", [DN_TYPE_ARRAY] = "av", [DN_TYPE_DICT] = "a{sv}",
};

static int append_content(sd_bus_message *message, const dn_value *value)
{
        int boolean = value->type == DN_TYPE_BOOL && value->as.boolean;

        switch (value->type) {
        case DN_TYPE_STRING: return sd_bus_message_append_basic(message, 's', value->as.string);
        case DN_TYPE_BOOL: return sd_bus_message_append_basic(message, 'b', &boolean);
        case DN_TYPE_DATA:
                return sd_bus_message_append_array(message, 'y', value->as.data, value->n_bytes);
        case DN_TYPE_DATE: return sd_bus_message_append(message, "(x)", value->as.date_us);
        case DN_TYPE_ARRAY: return append_array(message, value->as.array);
        case DN_TYPE_DICT: return dn__values_append(message, value->as.dict);
        default:
                return sd_bus_message_append_basic(message, *signatures[value->type],
                                                   &value->as.uint64);
        }
}

int dn__values_append_variant(sd_bus_message *message, const dn_value *value)
{
        int r = sd_bus_message_open_container(message, 'v', signatures[value->type]);

        if (r >= 0)
                r = append_content(message, value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_array(sd_bus_message *message, const dn_array *array)
{
        dn_value value;
        int r = sd_bus_message_open_container(message, 'a', "v");

        for (size_t i = 0; r >= 0 && dn_array_get(array, i, &value); i++)
                r = dn__values_append_variant(message, &value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_entry(sd_bus_message *message, const char *key, const dn_value *value)
{
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append_basic(message, 's', key);
        if (r >= 0)
                r = dn__values_append_variant(message, value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int dn__values_append(sd_bus_message *message, const dn_dict *dict)
{
        const char *key;
        dn_value value;
        int r = sd_bus_message_open_container(message, 'a', "{sv}");

        for (size_t i = 0; r >= 0 && (key = dn_dict_get_at(dict, i, &value)); i++)
                r = append_entry(message, key, &value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct reader {
        sd_bus_message *message;
        dn_dict_builder *builder;
} reader;

/* Returns 0 or a negative errno, as do all functions here. */

static int read_value(reader *reader, const char *key);

/* sd-bus enters at most 128 containers, variants included, so the recursion ends. Finding out the
 * contents takes longer than reading a value: pass NULL only if they are unknown. */
static int enter(reader *reader, char type, const char *contents)
{
        int r = sd_bus_message_enter_container(reader->message, type, contents);

        return r > 0 ? 0 : r < 0 ? r : -EBADMSG;
}

static int leave(reader *reader)
{
        int r = sd_bus_message_exit_container(reader->message);

        return r < 0 ? r : 0;
}

/* Reads a basic type as its nearest kind. */
static int read_basic(reader *reader, char type, const char *key)
{
        union {
                uint8_t y;
                int16_t n;
                uint16_t q;
                int32_t i;
                uint32_t u;
                int64_t x;
                uint64_t t;
                int b;
                double d;
                const char *text;
        } as = { 0 };
        dn_value value = { .type = DN_TYPE_INT64 };
        int r;

        r = sd_bus_message_read_basic(reader->message, type, &as);
        if (r < 0)
                return r;
        switch (type) {
        case 'y': value.as.int64 = as.y; break;
        case 'n': value.as.int64 = as.n; break;
        case 'q': value.as.int64 = as.q; break;
        case 'i': value.as.int64 = as.i; break;
        case 'u': value.as.int64 = as.u; break;
        case 'x': value.as.int64 = as.x; break;
        case 't': value = (dn_value){ DN_TYPE_UINT64, 0, { .uint64 = as.t } }; break;
        case 'b': value = (dn_value){ DN_TYPE_BOOL, 0, { .boolean = as.b } }; break;
        case 'd': value = (dn_value){ DN_TYPE_DOUBLE, 0, { .real = as.d } }; break;
        default: value = (dn_value){ DN_TYPE_STRING, strlen(as.text), { .string = as.text } };
        }
        dn_dict_builder_set(reader->builder, key, &value);
        return 0;
}

static int read_data(reader *reader, const char *key)
{
        const void *bytes;
        size_t n_bytes;
        int r;

        r = sd_bus_message_read_array(reader->message, 'y', &bytes, &n_bytes);
        if (r < 0)
                return r;
        dn_dict_builder_set_data(reader->builder, key, bytes, n_bytes);
        return 0;
}

static int read_date(reader *reader, const char *key)
{
        int64_t date_us;
        int r;

        r = sd_bus_message_read(reader->message, "(x)", &date_us);
        if (r < 0)
                return r;
        dn_dict_builder_set_date(reader->builder, key, date_us);
        return 0;
}

/* Keys are converted to text; usually they are strings. */
static int read_entry(reader *reader)
{
        const char *key;
        char type;
        int r = enter(reader, 'e', NULL);

        if (r == 0)
                r = sd_bus_message_peek_type(reader->message, &type, NULL);
        if (r > 0)
                r = strchr("sog", type) ? sd_bus_message_read_basic(reader->message, type, &key)
                                        : -EBADMSG;
        if (r > 0)
                r = read_value(reader, key);
        return r < 0 ? r : leave(reader);
}

/* Reads each part of the next container. */
static int read_parts(reader *reader, char type, const char *contents)
{
        int r = enter(reader, type, contents);

        while (r == 0 && (r = sd_bus_message_at_end(reader->message, false)) == 0)
                r = contents[0] == '{' ? read_entry(reader) : read_value(reader, NULL);
        return r < 0 ? r : leave(reader);
}

static int read_variant(reader *reader, const char *contents, const char *key)
{
        int r = enter(reader, 'v', contents);

        if (r == 0)
                r = read_value(reader, key);
        return r < 0 ? r : leave(reader);
}

static int read_container(reader *reader, char type, const char *contents, const char *key)
{
        int r;

        if (type == 'v')
                return read_variant(reader, contents, key);
        if (type == 'r' && strcmp(contents, "x") == 0)
                return read_date(reader, key);
        if (type == 'a' && strcmp(contents, "y") == 0)
                return read_data(reader, key);
        if (contents[0] == '{')
                dn_dict_builder_begin_dict(reader->builder, key);
        else
                dn_dict_builder_begin_array(reader->builder, key);
        r = read_parts(reader, type, contents);
        dn_dict_builder_end(reader->builder);
        return r;
}

/* Once a limit of the builder is reached, the rest, which may be long, is skipped. */
static int read_value(reader *reader, const char *key)
{
        const char *contents;
        char type;
        int r;

        r = sd_bus_message_peek_type(reader->message, &type, &contents);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        if (strchr("avr", type))
                r = read_container(reader, type, contents, key);
        else
                r = strchr("ynqiuxtbdsog", type) ? read_basic(reader, type, key) : -EBADMSG;
        return r < 0 ? r : dn__dict_builder_get_error(reader->builder);
}

/* Also reports that there was no memory for the builder. */
static int finish(reader *reader, int r, dn_dict **ret_dict)
{
        if (r == 0)
                r = dn_dict_builder_finish(reader->builder, ret_dict);
        else
                (void)dn_dict_builder_free(reader->builder);
        return r == 0 || r == -ENOMEM || r == -E2BIG ? r : -EBADMSG;
}

int dn__values_read(sd_bus_message *message, dn_dict **ret_dict)
{
        reader reader = { .message = message, .builder = dn_dict_builder_new() };

        return finish(&reader, read_parts(&reader, 'a', "{sv}"), ret_dict);
}

int dn__values_read_as(sd_bus_message *message, const char *key, dn_dict **ret_dict)
{
        reader reader = { .message = message, .builder = dn_dict_builder_new() };

        return finish(&reader, read_value(&reader, key), ret_dict);
}
