/* Property lists: building, reading, limits. */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "centers.h"
#include "test.h"

/* Checks that a failed builder returns nothing. */
static int finish_failed(dn_dict_builder *builder)
{
        dn_dict *dict = NULL;
        int r = dn_dict_builder_finish(builder, &dict);

        CHECK(!dict);
        return r;
}

static dn_dict *dict_with(const dn_value *value)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set(builder, "key", value);
        return finish(builder);
}

/* The result of a dictionary that has the value under a key, and fails. */
static int fail_with(const dn_value *value)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set(builder, "key", value);
        dn_dict_builder_set_bool(builder, "good", true);
        return finish_failed(builder);
}

static int fail_with_dict(const dn_dict *dict)
{
        return fail_with(&(dn_value){ DN_TYPE_DICT, 0, { .dict = dict } });
}

static dn_dict *dict_with_each_type(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_string(builder, "string", "Grüße");
        dn_dict_builder_set_bool(builder, "bool", true);
        dn_dict_builder_set_int64(builder, "int64", INT64_MIN);
        dn_dict_builder_set_uint64(builder, "uint64", UINT64_MAX);
        dn_dict_builder_set_double(builder, "double", 0.5);
        dn_dict_builder_set_data(builder, "data", "\0\1\2", 3);
        dn_dict_builder_set_date(builder, "date", -1);
        dn_dict_builder_begin_array(builder, "array");
        dn_dict_builder_set_bool(builder, NULL, false);
        dn_dict_builder_begin_dict(builder, NULL);
        dn_dict_builder_end(builder);
        dn_dict_builder_end(builder);
        dn_dict_builder_begin_dict(builder, "dict");
        dn_dict_builder_set_int64(builder, "inner", 1);
        dn_dict_builder_end(builder);
        return finish(builder);
}

TEST_NO_BUS(eachTypeReadsBackAsSet)
{
        AUTO_DICT *dict = dict_with_each_type();
        dn_value value;
        size_t n_bytes;

        CHECK_EQ(dn_dict_get_count(dict), 9);
        CHECK_STREQ(dn_dict_get_string(dict, "string"), "Grüße");
        CHECK(dn_dict_get_bool(dict, "bool", false));
        CHECK_EQ(dn_dict_get_int64(dict, "int64", 0), INT64_MIN);
        CHECK(dn_dict_get_uint64(dict, "uint64", 0) == UINT64_MAX);
        CHECK(dn_dict_get_double(dict, "double", 0) == 0.5);
        CHECK(memcmp(dn_dict_get_data(dict, "data", &n_bytes), "\0\1\2", 3) == 0);
        CHECK_EQ(n_bytes, 3);
        CHECK_EQ(dn_dict_get_date(dict, "date", 0), -1);
        CHECK_EQ(dn_array_get_count(dn_dict_get_array(dict, "array")), 2);
        CHECK(dn_array_get(dn_dict_get_array(dict, "array"), 0, &value));
        CHECK(value.type == DN_TYPE_BOOL && !value.as.boolean);
        CHECK(dn_array_get(dn_dict_get_array(dict, "array"), 1, &value));
        CHECK(value.type == DN_TYPE_DICT && dn_dict_get_count(value.as.dict) == 0);
        CHECK(!dn_array_get(dn_dict_get_array(dict, "array"), 2, &value));
        CHECK_EQ(dn_dict_get_int64(dn_dict_get_dict(dict, "dict"), "inner", 0), 1);
}

TEST_NO_BUS(missingKeyOrOtherTypeReturnsTheFallback)
{
        AUTO_DICT *dict = dict_with_each_type();
        const dn_dict *none = NULL;
        size_t n_bytes = 7;

        CHECK(!dn_dict_get(dict, "missing", NULL));
        CHECK(!dn_dict_get(dict, NULL, NULL));
        CHECK(dn_dict_get(dict, "bool", NULL));
        CHECK(!dn_dict_get_string(dict, "bool"));
        CHECK(dn_dict_get_bool(dict, "int64", true));
        CHECK_EQ(dn_dict_get_int64(dict, "bool", 7), 7);
        CHECK_EQ(dn_dict_get_int64(dict, "uint64", 7), 7);
        CHECK_EQ(dn_dict_get_uint64(dict, "int64", 7), 7);
        CHECK(dn_dict_get_double(dict, "int64", 1.5) == 1.5);
        CHECK(!dn_dict_get_data(dict, "string", &n_bytes));
        CHECK_EQ(n_bytes, 0);
        CHECK_EQ(dn_dict_get_date(dict, "int64", 7), 7);
        CHECK(!dn_dict_get_array(dict, "dict"));
        CHECK(!dn_dict_get_dict(dict, "array"));
        CHECK_EQ(dn_dict_get_count(none), 0);
        CHECK(!dn_dict_get(none, "x", NULL));
        CHECK(!dn_dict_get_at(none, 0, NULL));
        CHECK_EQ(dn_array_get_count(NULL), 0);
}

TEST_NO_BUS(integerIsReadAsEitherTypeThatFits)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_value value;

        dn_dict_builder_set_uint64(builder, "small", 5);
        dn_dict_builder_set_uint64(builder, "limit", INT64_MAX);
        dn_dict_builder_set_uint64(builder, "large", (uint64_t)INT64_MAX + 1);
        AUTO_DICT *dict = finish(builder);
        CHECK(dn_dict_get(dict, "small", &value) && value.type == DN_TYPE_INT64);
        CHECK_EQ(dn_dict_get_int64(dict, "small", 0), 5);
        CHECK_EQ(dn_dict_get_uint64(dict, "small", 0), 5);
        CHECK_EQ(dn_dict_get_int64(dict, "limit", 0), INT64_MAX);
        CHECK(dn_dict_get(dict, "large", &value) && value.type == DN_TYPE_UINT64);
        CHECK_EQ(dn_dict_get_int64(dict, "large", -1), -1);
}

TEST_NO_BUS(keysAreInByteOrderAndTheLastValueWins)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_value value;

        dn_dict_builder_set_int64(builder, "b", 1);
        dn_dict_builder_set_int64(builder, "é", 2);
        dn_dict_builder_set_int64(builder, "", 3);
        dn_dict_builder_begin_dict(builder, "a");
        dn_dict_builder_end(builder);
        dn_dict_builder_set_int64(builder, "b", 4);
        dn_dict_builder_set_int64(builder, "a", 5);
        AUTO_DICT *dict = finish(builder);
        CHECK_EQ(dn_dict_get_count(dict), 4);
        CHECK_STREQ(dn_dict_get_at(dict, 0, &value), "");
        CHECK_EQ(value.as.int64, 3);
        CHECK_STREQ(dn_dict_get_at(dict, 1, &value), "a");
        CHECK(value.type == DN_TYPE_INT64 && value.as.int64 == 5);
        CHECK_STREQ(dn_dict_get_at(dict, 2, &value), "b");
        CHECK_EQ(value.as.int64, 4);
        CHECK_STREQ(dn_dict_get_at(dict, 3, NULL), "é");
        CHECK(!dn_dict_get_at(dict, 4, NULL));
}

TEST_NO_BUS(emptyValuesAreNotMissing)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        size_t n_bytes = 7;
        dn_dict *dict;

        dn_dict_builder_set_string(builder, "string", "");
        dn_dict_builder_set_data(builder, "data", NULL, 0);
        dn_dict_builder_begin_array(builder, "array");
        dn_dict_builder_end(builder);
        dict = finish(builder);
        CHECK_STREQ(dn_dict_get_string(dict, "string"), "");
        CHECK(dn_dict_get_data(dict, "data", &n_bytes));
        CHECK_EQ(n_bytes, 0);
        CHECK(dn_dict_get_array(dict, "array"));
        dn_dict_unref(dict);
        dict = finish(dn_dict_builder_new());
        CHECK_EQ(dn_dict_get_count(dict), 0);
        dn_dict_unref(dict);
}

TEST_NO_BUS(malformedInputIsRefusedByFinish)
{
        static const dn_value wrong[] = {
                { .type = 0 },
                { .type = DN_TYPE_DICT + 1 },
                { .type = DN_TYPE_STRING },
                { .type = DN_TYPE_DATA, .n_bytes = 1 },
                { .type = DN_TYPE_ARRAY },
                { .type = DN_TYPE_DICT },
                { .type = DN_TYPE_STRING, .n_bytes = 3, .as = { .string = "a\0b" } },
                { .type = DN_TYPE_STRING, .n_bytes = 1, .as = { .string = "\xff" } },
                { .type = DN_TYPE_STRING, .n_bytes = 3, .as = { .string = "\xef\xbf\xbf" } },
        };
        dn_dict_builder *builder;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(fail_with(&wrong[i]), -EINVAL);
        CHECK_EQ(fail_with(NULL), -EINVAL);
        builder = dn_dict_builder_new();
        dn_dict_builder_set_bool(builder, NULL, true);
        CHECK_EQ(finish_failed(builder), -EINVAL);
        builder = dn_dict_builder_new();
        dn_dict_builder_set_bool(builder, "\xff", true);
        CHECK_EQ(finish_failed(builder), -EINVAL);
        builder = dn_dict_builder_new();
        dn_dict_builder_begin_array(builder, "array");
        dn_dict_builder_set_bool(builder, "key", true);
        CHECK_EQ(finish_failed(builder), -EINVAL);
}

TEST_NO_BUS(containersMustBeEndedAsOftenAsBegun)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_end(builder);
        CHECK_EQ(finish_failed(builder), -EINVAL);
        builder = dn_dict_builder_new();
        dn_dict_builder_begin_dict(builder, "open");
        dn_dict_builder_set_bool(builder, "key", true);
        CHECK_EQ(finish_failed(builder), -EINVAL);
        CHECK_EQ(dn_dict_builder_finish(dn_dict_builder_new(), NULL), -EINVAL);
        CHECK_EQ(finish_failed(NULL), -ENOMEM);
        builder = dn_dict_builder_new();
        dn_dict_builder_begin_dict(builder, "given up");
        CHECK(!dn_dict_builder_free(builder));
        CHECK(!dn_dict_builder_free(NULL));
}

static int finish_depth(unsigned depth)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *dict = NULL;
        int r;

        for (unsigned i = 1; i < depth; i++)
                dn_dict_builder_begin_array(builder, i == 1 ? "key" : NULL);
        for (unsigned i = 1; i < depth; i++)
                dn_dict_builder_end(builder);
        r = dn_dict_builder_finish(builder, &dict);
        dn_dict_unref(dict);
        return r;
}

TEST_NO_BUS(depthIsLimited)
{
        dn_dict *dict = finish(dn_dict_builder_new());

        CHECK_EQ(finish_depth(DN_DICT_MAX_DEPTH), 0);
        CHECK_EQ(finish_depth(DN_DICT_MAX_DEPTH + 1), -E2BIG);
        for (int i = 1; i < DN_DICT_MAX_DEPTH; i++) {
                dn_value value = { DN_TYPE_DICT, 0, { .dict = dict } };

                dict = dict_with(&value);
                dn_dict_unref(value.as.dict);
        }
        CHECK_EQ(fail_with_dict(dict), -E2BIG);
        dn_dict_unref(dict);
}

TEST_NO_BUS(numberOfValuesIsLimited)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_begin_array(builder, "array");
        for (int i = 1; i < DN_DICT_MAX_VALUES; i++)
                dn_dict_builder_set_bool(builder, NULL, true);
        dn_dict_builder_end(builder);
        AUTO_DICT *dict = finish(builder);
        CHECK_EQ(fail_with_dict(dict), -E2BIG);
}

/* Containers that are shared count each time: otherwise a few would be millions of values. */
TEST_NO_BUS(sharedContainersCountEachTime)
{
        dn_dict *dict = finish(dn_dict_builder_new());
        int r = 0, n_levels = 1;

        while (r == 0) {
                dn_value value = { DN_TYPE_DICT, 0, { .dict = dict } };
                dn_dict_builder *builder = dn_dict_builder_new();

                dn_dict_builder_begin_array(builder, "key");
                for (int i = 0; i < 10; i++)
                        dn_dict_builder_set(builder, NULL, &value);
                dn_dict_builder_end(builder);
                r = dn_dict_builder_finish(builder, &dict);
                dn_dict_unref(value.as.dict);
                n_levels++;
        }
        CHECK_EQ(r, -E2BIG);
        CHECK_EQ(n_levels, 6);
}

TEST_NO_BUS(numberOfBytesIsLimited)
{
        enum { N_MOST = DN_DICT_MAX_BYTES - DN_DICT_VALUE_BYTES - 3 };
        char *bytes = calloc(1, DN_DICT_MAX_BYTES);
        dn_value value = { DN_TYPE_DATA, N_MOST, { .data = bytes } };
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_unref(dict_with(&value));
        dn_dict_builder_set_data(builder, "key", bytes, N_MOST + 1);
        CHECK_EQ(finish_failed(builder), -E2BIG);
        value.n_bytes = SIZE_MAX;
        CHECK_EQ(fail_with(&value), -E2BIG);
        free(bytes);
}

TEST_NO_BUS(bytesOfContainersCountEachTime)
{
        char *bytes = calloc(1, DN_DICT_MAX_BYTES);
        dn_value value = { DN_TYPE_DATA, DN_DICT_MAX_BYTES / 2, { .data = bytes } };
        dn_dict_builder *builder = dn_dict_builder_new();
        AUTO_DICT *half = dict_with(&value);

        value = (dn_value){ DN_TYPE_DICT, 0, { .dict = half } };
        dn_dict_builder_set(builder, "once", &value);
        dn_dict_builder_set(builder, "twice", &value);
        CHECK_EQ(finish_failed(builder), -E2BIG);
        free(bytes);
}

TEST_NO_BUS(containerSurvivesInAnotherDictionary)
{
        dn_dict *first = dict_with_each_type(), *second;
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_value value;

        CHECK(dn_dict_get(first, "array", &value));
        dn_dict_builder_set(builder, "array", &value);
        CHECK(dn_dict_get(first, "dict", &value));
        dn_dict_builder_set(builder, "dict", &value);
        second = finish(builder);
        dn_dict *inner = dn_dict_ref(dn_dict_get_dict(first, "dict"));
        dn_dict_unref(first);
        CHECK_EQ(dn_array_get_count(dn_dict_get_array(second, "array")), 2);
        dn_dict_unref(second);
        CHECK_EQ(dn_dict_get_int64(inner, "inner", 0), 1);
        CHECK(!dn_dict_unref(inner));
        CHECK(!dn_dict_unref(NULL));
        CHECK(!dn_dict_ref(NULL));
}

static dn_value real(double number)
{
        return (dn_value){ DN_TYPE_DOUBLE, 0, { .real = number } };
}

static void check_json(dn_value value, const char *expected)
{
        AUTO_DICT *dict = dict_with(&value);
        char *text = dn_dict_copy_json(dict);

        CHECK_STREQ(text, FORMAT("{\"key\": %s}", expected));
        free(text);
}

TEST_NO_BUS(eachTypeHasItsJson)
{
        AUTO_DICT *dict = dict_with_each_type();
        char *text = dn_dict_copy_json(dict);

        CHECK_STREQ(text, "{\"array\": [false, {}], \"bool\": true, \"data\": \"AAEC\", "
                          "\"date\": \"1969-12-31T23:59:59.999999Z\", \"dict\": {\"inner\": 1}, "
                          "\"double\": 0.5, \"int64\": -9223372036854775808, "
                          "\"string\": \"Grüße\", \"uint64\": 18446744073709551615}");
        free(text);
        CHECK(!dn_dict_copy_json(NULL));
}

TEST_NO_BUS(jsonIsReadBackToTheSameValue)
{
        check_json((dn_value){ DN_TYPE_STRING, 5, { .string = "\"\\\n\t\x01" } },
                   "\"\\\"\\\\\\u000a\\u0009\\u0001\"");
        check_json(real(5), "5.0");
        check_json(real(0.1), "0.1");
        check_json(real(1e300), "1e+300");
        check_json(real(1.0 / 3), "0.3333333333333333");
        check_json(real(NAN), "\"NaN\"");
        check_json(real(INFINITY), "\"Infinity\"");
        check_json(real(-INFINITY), "\"-Infinity\"");
        check_json((dn_value){ DN_TYPE_DATA, 0, { .data = NULL } }, "\"\"");
        check_json((dn_value){ DN_TYPE_DATA, 1, { .data = "\xff" } }, "\"/w==\"");
        check_json((dn_value){ DN_TYPE_DATA, 2, { .data = "\xff\xff" } }, "\"//8=\"");
        check_json((dn_value){ DN_TYPE_DATE, 0, { .date_us = 1700000000123456 } },
                   "\"2023-11-14T22:13:20.123456Z\"");
}

TEST_MAIN()
