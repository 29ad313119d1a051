/* Property lists as D-Bus values. */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <stdlib.h>

#include "bus/values.h"
#include "centers.h"
#include "test-bus.h"
#include "test-raw.h"
#include "test.h"

#define PATH "/test"

static test_bus *bus;
static sd_bus *connection;

static void connect_to_bus(void)
{
        bus = test_bus_begin();
        CHECK_EQ(sd_bus_new(&connection), 0);
        CHECK(sd_bus_set_address(connection, test_bus_address(bus)) >= 0);
        CHECK(sd_bus_set_bus_client(connection, true) >= 0);
        CHECK(sd_bus_start(connection) >= 0);
}

static sd_bus_message *signal_new(void)
{
        sd_bus_message *message = NULL;

        CHECK(sd_bus_message_new_signal(connection, &message, PATH, "test.Values", "Test") >= 0);
        return message;
}

/* Reads the dictionary of a written message, and frees the message. */
static int read_back(sd_bus_message *message, dn_dict **ret_dict)
{
        int r;

        CHECK(sd_bus_message_seal(message, 1, 0) >= 0);
        CHECK(sd_bus_message_rewind(message, true) >= 0);
        *ret_dict = NULL;
        r = dn__values_read(message, ret_dict);
        CHECK_EQ(r == 0, *ret_dict != NULL);
        sd_bus_message_unref(message);
        return r;
}

static bool have_same_types(const dn_value *a, const dn_value *b)
{
        dn_value x, y;

        if (a->type != b->type)
                return false;
        for (size_t i = 0; a->type == DN_TYPE_ARRAY && dn_array_get(a->as.array, i, &x); i++)
                if (!dn_array_get(b->as.array, i, &y) || !have_same_types(&x, &y))
                        return false;
        for (size_t i = 0; a->type == DN_TYPE_DICT && dn_dict_get_at(a->as.dict, i, &x); i++)
                if (!dn_dict_get_at(b->as.dict, i, &y) || !have_same_types(&x, &y))
                        return false;
        return true;
}

/* The JSON distinguishes values of one type. */
static void check_same(const dn_dict *a, const dn_dict *b)
{
        char *first = dn_dict_copy_json(a), *second = dn_dict_copy_json(b);

        CHECK(first && strcmp(first, second) == 0);
        CHECK(have_same_types(&(dn_value){ .type = DN_TYPE_DICT, .as.dict = a },
                              &(dn_value){ .type = DN_TYPE_DICT, .as.dict = b }));
        free(first);
        free(second);
}

static void check_survives(dn_dict *dict)
{
        sd_bus_message *message = signal_new();
        dn_dict *read;

        CHECK_EQ(dn__values_append(message, dict), 0);
        CHECK_EQ(read_back(message, &read), 0);
        check_same(read, dict);
        dn_dict_unref(read);
        dn_dict_unref(dict);
}

static dn_dict *dict_with_limits(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_string(builder, "Grüße 😀", "𝄞");
        dn_dict_builder_set_string(builder, "", "");
        dn_dict_builder_set_bool(builder, "false", false);
        dn_dict_builder_set_int64(builder, "0", 0);
        dn_dict_builder_set_int64(builder, "smallest", INT64_MIN);
        dn_dict_builder_set_int64(builder, "large", INT64_MAX);
        dn_dict_builder_set_uint64(builder, "largest", UINT64_MAX);
        dn_dict_builder_set_double(builder, "nan", __builtin_nan(""));
        dn_dict_builder_set_double(builder, "infinity", -__builtin_inf());
        dn_dict_builder_set_data(builder, "no data", NULL, 0);
        dn_dict_builder_set_data(builder, "data", "\0\xff", 2);
        dn_dict_builder_set_date(builder, "date", 1700000000123456);
        dn_dict_builder_set_date(builder, "ancient", INT64_MIN);
        dn_dict_builder_begin_array(builder, "empty array");
        dn_dict_builder_end(builder);
        dn_dict_builder_begin_array(builder, "array");
        dn_dict_builder_set_bool(builder, NULL, true);
        dn_dict_builder_begin_dict(builder, NULL);
        dn_dict_builder_end(builder);
        dn_dict_builder_set_string(builder, NULL, "last");
        dn_dict_builder_end(builder);
        return finish(builder);
}

/* Has a date at the bottom, which adds a level on the bus. */
static dn_dict *deepest_dict(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        for (int i = 1; i < DN_DICT_MAX_DEPTH; i++)
                dn_dict_builder_begin_dict(builder, "key");
        dn_dict_builder_set_date(builder, "date", 1);
        for (int i = 1; i < DN_DICT_MAX_DEPTH; i++)
                dn_dict_builder_end(builder);
        return finish(builder);
}

TEST_ON_BUS(eachTypeComesBackAsItWas)
{
        connect_to_bus();
        check_survives(finish(dn_dict_builder_new()));
        check_survives(dict_with_limits());
        check_survives(deepest_dict());
}

static int read_values(dn_dict **ret_dict, const char *signature, ...)
{
        sd_bus_message *message = signal_new();
        va_list values;

        va_start(values, signature);
        CHECK(sd_bus_message_appendv(message, signature, values) >= 0);
        va_end(values);
        return read_back(message, ret_dict);
}

TEST_ON_BUS(foreignTypesAreReadAsTheirNearestKind)
{
        dn_dict *dict;
        char *text;

        connect_to_bus();
        CHECK_EQ(read_values(&dict, "a{sv}", 14, "y", "y", 200, "n", "n", -3, "q", "q",
                             65535, "i", "i", -5, "u", "u", 4000000000u, "t", "t", (uint64_t)7, "o",
                             "o", "/a/b", "g", "g", "a{sv}", "v", "v", "v", "s", "inner", "as",
                             "as", 2, "one", "two", "struct", "(si)", "x", 1, "a{si}", "a{si}", 1,
                             "k", 2, "a{oas}", "a{oas}", 1, "/k", 1, "x", "av", "av", 1, "b", true),
                 0);
        text = dn_dict_copy_json(dict);
        CHECK_STREQ(text, "{\"as\": [\"one\", \"two\"], \"av\": [true], "
                          "\"a{oas}\": {\"/k\": [\"x\"]}, \"a{si}\": {\"k\": 2}, "
                          "\"g\": \"a{sv}\", \"i\": -5, \"n\": -3, \"o\": \"/a/b\", "
                          "\"q\": 65535, \"struct\": [\"x\", 1], \"t\": 7, "
                          "\"u\": 4000000000, \"v\": \"inner\", \"y\": 200}");
        free(text);
        dn_dict_unref(dict);
}

TEST_ON_BUS(tooManyValuesAreRefused)
{
        size_t n_bytes = (DN_DICT_MAX_VALUES + 1) * sizeof(int32_t);
        int32_t *numbers = calloc(1, n_bytes);
        sd_bus_message *message;
        dn_dict *dict;

        connect_to_bus();
        message = signal_new();
        CHECK(sd_bus_message_open_container(message, 'a', "{sv}") >= 0);
        CHECK(sd_bus_message_open_container(message, 'e', "sv") >= 0);
        CHECK(sd_bus_message_append(message, "s", "many") >= 0);
        CHECK(sd_bus_message_open_container(message, 'v', "ai") >= 0);
        CHECK(sd_bus_message_append_array(message, 'i', numbers, n_bytes) >= 0);
        CHECK(sd_bus_message_close_container(message) >= 0);
        CHECK(sd_bus_message_close_container(message) >= 0);
        CHECK(sd_bus_message_close_container(message) >= 0);
        CHECK_EQ(read_back(message, &dict), -E2BIG);
        free(numbers);
}

/* --- Malformed ----------------------------------------------------------------------------- */

/* Reads every signal that has arrived. Returns how many of them contained dictionaries. */
static unsigned read_all(void)
{
        sd_bus_message *message = NULL;
        unsigned n_read = 0;

        /* Then the bus has read everything sent, and has sent everything meant for us. */
        CHECK(sd_bus_call_method(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus", "GetId", NULL, NULL, "") >= 0);
        while (sd_bus_process(connection, &message) > 0) {
                dn_dict *dict = NULL;

                if (message && sd_bus_message_is_signal(message, "test.Values", NULL) > 0 &&
                    dn__values_read(message, &dict) == 0)
                        n_read++;
                dn_dict_unref(dict);
                message = sd_bus_message_unref(message);
        }
        return n_read;
}

static test_raw *send_body(test_raw *raw, const uint8_t *body, size_t n_bytes)
{
        test_raw_signal signal = { .path = PATH, .interface = "test.Values", .member = "Test",
                                   .signature = "a{sv}", .body = body, .body_bytes = n_bytes };

        if (!raw)
                raw = test_raw_open(test_bus_address(bus));
        /* dbus-daemon checks bodies, and disconnects. */
        if (test_raw_send(raw, &signal) && test_raw_sync(raw))
                return raw;
        return test_raw_close(raw);
}

/* {"k": "text"} */
static const uint8_t good_body[] = { 21, 0, 0, 0, 0, 0, 0, 0, 1,   0,   0,   0,   'k', 0, 1,
                                     's', 0, 0, 0, 0, 4, 0, 0, 0, 't', 'e', 'x', 't', 0 };

TEST_ON_BUS(noBodyCrashesTheReader)
{
        static const uint8_t changes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255, 'a' ^ 's', 'v' ^ 's' };
        uint8_t body[sizeof(good_body)];
        test_raw *raw = NULL;
        unsigned n_read = 0;

        connect_to_bus();
        CHECK(sd_bus_match_signal(connection, NULL, NULL, PATH, NULL, NULL, NULL, NULL) >= 0);
        raw = send_body(raw, good_body, sizeof(good_body));
        CHECK(raw);
        CHECK_EQ(read_all(), 1);
        for (size_t i = 0; i < sizeof(body); i++) {
                for (size_t j = 0; j < sizeof(changes); j++) {
                        memcpy(body, good_body, sizeof(body));
                        body[i] ^= changes[j];
                        raw = send_body(raw, body, sizeof(body));
                }
                n_read += read_all();
        }
        for (size_t n = 0; n < sizeof(body); n++)
                raw = send_body(raw, good_body, n);
        CHECK(n_read > 0);
        (void)read_all();
        test_raw_close(raw);
        raw = send_body(NULL, good_body, sizeof(good_body));
        CHECK_EQ(read_all(), 1);
        test_raw_close(raw);
}

/* {"k": a variant in a variant in a variant ...} */
/* Returns the bytes of the first key of a dictionary in a sealed message. */
static uint8_t *find_key(sd_bus_message *message)
{
        const char *key;

        CHECK(sd_bus_message_enter_container(message, 'a', "{sv}") > 0);
        CHECK(sd_bus_message_enter_container(message, 'e', "sv") > 0);
        CHECK(sd_bus_message_read_basic(message, 's', &key) > 0);
        return (uint8_t *)(uintptr_t)key;
}

/* Changes a byte behind the key "k", then reads. */
static void check_contradiction(sd_bus_message *message, size_t offset, uint8_t value)
{
        dn_dict *dict = NULL;

        CHECK(sd_bus_message_seal(message, 1, 0) >= 0);
        find_key(message)[offset] = value;
        CHECK(sd_bus_message_rewind(message, true) >= 0);
        CHECK_EQ(dn__values_read(message, &dict), -EBADMSG);
        CHECK(!dict);
        sd_bus_message_unref(message);
}

/* Brokers forward no such body. Behind the key are its NUL and the signature of the value, with its
 * length and its NUL; then the value, aligned to 4 bytes, a date to 8. */
TEST_ON_BUS(aBodyThatContradictsItsSignatureIsRefused)
{
        sd_bus_message *message;

        connect_to_bus();
        message = signal_new();
        CHECK(sd_bus_message_append(message, "a{sv}", 1, "k", "s", "text") >= 0);
        check_contradiction(message, 10, 1); /* the length of the text */
        message = signal_new();
        CHECK(sd_bus_message_append(message, "a{sv}", 1, "k", "ay", 2, 1, 2) >= 0);
        check_contradiction(message, 10, 1); /* the length of the data */
        message = signal_new();
        CHECK(sd_bus_message_append(message, "a{sv}", 1, "k", "(x)", (int64_t)1) >= 0);
        check_contradiction(message, 7, 1); /* the padding of the date */
        message = signal_new();
        CHECK(sd_bus_message_append(message, "a{sv}", 1, "k", "s", "text") >= 0);
        check_contradiction(message, 3, '!'); /* the signature */
}

TEST_ON_BUS(variantsInVariantsAreRefusedAtSomeDepth)
{
        enum { N = 2000 };
        uint8_t body[14 + 3 * N + 4] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'k', 0 };
        uint32_t n_bytes = sizeof(body) - 8;

        connect_to_bus();
        memcpy(body, &n_bytes, sizeof(n_bytes));
        for (size_t i = 0; i < N; i++)
                memcpy(body + 14 + 3 * i, "\1v", 3);
        memcpy(body + 14 + 3 * N, "\1y\0\7", 4);
        CHECK(sd_bus_match_signal(connection, NULL, NULL, PATH, NULL, NULL, NULL, NULL) >= 0);
        test_raw_close(send_body(NULL, body, sizeof(body)));
        CHECK_EQ(read_all(), 0);
}

TEST_MAIN()
