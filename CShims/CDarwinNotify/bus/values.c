/* Property lists as D-Bus values (docs/wire.md). */
#include "bus/values.h"

#include <errno.h>
#include <string.h>

#include "post/dict.h"

/* --- Writing ------------------------------------------------------------------------------- */

static int append_dict(sd_bus_message *message, const dn_dict *dict);

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
        case DN_TYPE_STRING:
                return sd_bus_message_append_basic(message, 's', value->as.string);
        case DN_TYPE_BOOL:
                return sd_bus_message_append_basic(message, 'b', &boolean);
        case DN_TYPE_DATA:
                return sd_bus_message_append_array(message, 'y', value->as.data, value->n_bytes);
        case DN_TYPE_DATE:
                return sd_bus_message_append(message, "(x)", value->as.date_us);
        case DN_TYPE_ARRAY:
                return append_array(message, value->as.array);
        case DN_TYPE_DICT:
                return append_dict(message, value->as.dict);
        default:
                return sd_bus_message_append_basic(message, *signatures[value->type],
                                                   &value->as.uint64);
        }
}

static int append_variant(sd_bus_message *message, const dn_value *value)
{
        int r;

        r = sd_bus_message_open_container(message, 'v', signatures[value->type]);
        if (r >= 0)
                r = append_content(message, value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_array(sd_bus_message *message, const dn_array *array)
{
        dn_value value;
        int r;

        r = sd_bus_message_open_container(message, 'a', "v");
        for (size_t i = 0; r >= 0 && dn_array_get(array, i, &value); i++)
                r = append_variant(message, &value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_entry(sd_bus_message *message, const char *key, const dn_value *value)
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append_basic(message, 's', key);
        if (r >= 0)
                r = append_variant(message, value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_dict(sd_bus_message *message, const dn_dict *dict)
{
        const char *key;
        dn_value value;
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (size_t i = 0; r >= 0 && (key = dn_dict_get_at(dict, i, &value)); i++)
                r = append_entry(message, key, &value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int dn__values_append_variant(sd_bus_message *message, const dn_value *value)
{
        int r = append_variant(message, value);

        return r < 0 ? r : 0;
}

int dn__values_append(sd_bus_message *message, const dn_dict *dict)
{
        int r = append_dict(message, dict);

        return r < 0 ? r : 0;
}

/* --- Reading ------------------------------------------------------------------------------- */

/* D-Bus's limit of nested containers, variants included. Brokers need not check it. */
#define MAX_LEVELS 64

typedef struct reader {
        sd_bus_message *message;
        dn_dict_builder *builder;
        unsigned n_levels;
} reader;

/* Returns 0 or a negative errno, as do all functions here. */

static int read_value(reader *reader, const char *key);

static int enter(reader *reader, char type, const char *contents)
{
        int r;

        if (reader->n_levels == MAX_LEVELS)
                return -EBADMSG;
        r = sd_bus_message_enter_container(reader->message, type, contents);
        if (r > 0)
                reader->n_levels++;
        return r > 0 ? 0 : r < 0 ? r : -EBADMSG;
}

static int leave(reader *reader)
{
        int r = sd_bus_message_exit_container(reader->message);

        reader->n_levels--;
        return r < 0 ? r : 0;
}

static int read_integer(reader *reader, char type, const char *key)
{
        union {
                uint8_t y;
                int16_t n;
                uint16_t q;
                int32_t i;
                uint32_t u;
                int64_t x;
                uint64_t t;
        } number = { 0 };
        int64_t small;
        int r;

        r = sd_bus_message_read_basic(reader->message, type, &number);
        if (r < 0)
                return r;
        if (type == 't') {
                dn_dict_builder_set_uint64(reader->builder, key, number.t);
                return 0;
        }
        switch (type) {
        case 'y': small = number.y; break;
        case 'n': small = number.n; break;
        case 'q': small = number.q; break;
        case 'i': small = number.i; break;
        case 'u': small = number.u; break;
        default: small = number.x;
        }
        dn_dict_builder_set_int64(reader->builder, key, small);
        return 0;
}

static int read_text(reader *reader, char type, const char *key)
{
        const char *text;
        int r;

        r = sd_bus_message_read_basic(reader->message, type, &text);
        if (r < 0)
                return r;
        dn_dict_builder_set_string(reader->builder, key, text);
        return 0;
}

static int read_bool(reader *reader, const char *key)
{
        int boolean, r;

        r = sd_bus_message_read_basic(reader->message, 'b', &boolean);
        if (r < 0)
                return r;
        dn_dict_builder_set_bool(reader->builder, key, boolean);
        return 0;
}

static int read_double(reader *reader, const char *key)
{
        double number;
        int r;

        r = sd_bus_message_read_basic(reader->message, 'd', &number);
        if (r < 0)
                return r;
        dn_dict_builder_set_double(reader->builder, key, number);
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

/* Reads the values up to the end of a container into an array. */
static int read_array(reader *reader, char type, const char *contents, const char *key)
{
        int r;

        dn_dict_builder_begin_array(reader->builder, key);
        r = enter(reader, type, contents);
        while (r == 0 && (r = sd_bus_message_at_end(reader->message, false)) == 0)
                r = read_value(reader, NULL);
        if (r > 0)
                r = leave(reader);
        dn_dict_builder_end(reader->builder);
        return r;
}

/* Keys are converted to text; usually they are strings. */
static int read_entry(reader *reader, const char *contents)
{
        const char *key;
        int r;

        if (!strchr("sog", contents[0]))
                return -EBADMSG;
        r = enter(reader, 'e', contents);
        if (r == 0)
                r = sd_bus_message_read_basic(reader->message, contents[0], &key);
        if (r > 0)
                r = read_value(reader, key);
        return r < 0 ? r : leave(reader);
}

/* Reads the entries of the next dictionary. */
static int read_entries(reader *reader, const char *contents)
{
        size_t n_bytes = strlen(contents);
        char entry[256]; /* signatures have at most 255 bytes */
        int r;

        if (n_bytes < 2 || n_bytes >= sizeof(entry))
                return -EBADMSG;
        memcpy(entry, contents + 1, n_bytes - 2);
        entry[n_bytes - 2] = '\0';
        r = enter(reader, 'a', contents);
        while (r == 0 && (r = sd_bus_message_at_end(reader->message, false)) == 0)
                r = read_entry(reader, entry);
        return r < 0 ? r : leave(reader);
}

static int read_dict(reader *reader, const char *contents, const char *key)
{
        int r;

        dn_dict_builder_begin_dict(reader->builder, key);
        r = read_entries(reader, contents);
        dn_dict_builder_end(reader->builder);
        return r;
}

static int read_container(reader *reader, char type, const char *contents, const char *key)
{
        int r;

        if (type == 'v') {
                r = enter(reader, type, contents);
                if (r == 0)
                        r = read_value(reader, key);
                return r < 0 ? r : leave(reader);
        }
        if (type == 'r')
                return strcmp(contents, "x") == 0 ? read_date(reader, key)
                                                  : read_array(reader, type, contents, key);
        if (strcmp(contents, "y") == 0)
                return read_data(reader, key);
        return contents[0] == '{' ? read_dict(reader, contents, key)
                                  : read_array(reader, type, contents, key);
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
        if (strchr("ynqiuxt", type))
                r = read_integer(reader, type, key);
        else if (strchr("sog", type))
                r = read_text(reader, type, key);
        else if (strchr("avr", type))
                r = read_container(reader, type, contents, key);
        else if (type == 'b')
                r = read_bool(reader, key);
        else
                r = type == 'd' ? read_double(reader, key) : -EBADMSG;
        return r < 0 ? r : dn__dict_builder_get_error(reader->builder);
}

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

        if (!reader.builder)
                return -ENOMEM;
        return finish(&reader, read_entries(&reader, "{sv}"), ret_dict);
}

int dn__values_read_as(sd_bus_message *message, const char *key, dn_dict **ret_dict)
{
        reader reader = { .message = message, .builder = dn_dict_builder_new() };

        if (!reader.builder)
                return -ENOMEM;
        return finish(&reader, read_value(&reader, key), ret_dict);
}
