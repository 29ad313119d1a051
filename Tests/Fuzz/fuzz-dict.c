/* Builds property lists by arbitrary calls and reads them in every possible way. */
#include "fuzz.h"

#include <errno.h>

#include "darwinnotify/dict.h"

static void set(dn_dict_builder *builder, const char *key, fuzz_input *input, const dn_dict *other)
{
        char text[256];
        size_t n_bytes;
        double number;
        uint64_t bits;

        switch (fuzz_take(input, 1) % 10) {
        case 0:
                (void)fuzz_take_text(input, text);
                dn_dict_builder_set_string(builder, key, text);
                break;
        case 1:
                dn_dict_builder_set_bool(builder, key, fuzz_take(input, 1) & 1);
                break;
        case 2:
                dn_dict_builder_set_int64(builder, key, (int64_t)fuzz_take(input, 8));
                break;
        case 3:
                dn_dict_builder_set_uint64(builder, key, fuzz_take(input, 8));
                break;
        case 4:
                bits = fuzz_take(input, 8);
                memcpy(&number, &bits, sizeof(number));
                dn_dict_builder_set_double(builder, key, number);
                break;
        case 5:
                n_bytes = fuzz_take_text(input, text);
                dn_dict_builder_set_data(builder, key, text, n_bytes);
                break;
        case 6:
                dn_dict_builder_set_date(builder, key, (int64_t)fuzz_take(input, 8));
                break;
        case 7:
                dn_dict_builder_begin_dict(builder, key);
                break;
        case 8:
                dn_dict_builder_begin_array(builder, key);
                break;
        default:
                dn_dict_builder_set(builder, key,
                                    &(dn_value){ .type = DN_TYPE_DICT, .as.dict = other });
        }
}

static int build(fuzz_input *input, const dn_dict *other, dn_dict **ret_dict)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        char key[256];

        EXPECT(builder);
        while (input->n_bytes) {
                uint64_t what = fuzz_take(input, 1);

                if (what % 8 == 0) {
                        dn_dict_builder_end(builder);
                        continue;
                }
                if (what == 255)
                        break;
                (void)fuzz_take_text(input, key);
                set(builder, what % 2 ? key : NULL, input, other);
        }
        return dn_dict_builder_finish(builder, ret_dict);
}

/* The same dictionary, rebuilt from what can be read. */
static dn_dict *copy(const dn_dict *dict)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *copied = NULL;
        const char *key, *before = NULL;
        dn_value value, found;

        for (size_t i = 0; (key = dn_dict_get_at(dict, i, &value)); i++) {
                EXPECT(!before || strcmp(before, key) < 0);
                EXPECT(dn_dict_get(dict, key, &found) && found.type == value.type);
                EXPECT(!dn_dict_get_string(dict, key) == (value.type != DN_TYPE_STRING));
                dn_dict_builder_set(builder, key, &value);
                before = key;
        }
        EXPECT(dn_dict_builder_finish(builder, &copied) == 0);
        return copied;
}

static void read_all(const dn_dict *dict)
{
        dn_dict *copied = copy(dict);
        char *json = dn_dict_copy_json(dict), *json_of_copy = dn_dict_copy_json(copied);

        EXPECT(json && json[0] == '{' && json[strlen(json) - 1] == '}');
        EXPECT(json_of_copy && strcmp(json, json_of_copy) == 0);
        free(json_of_copy);
        free(json);
        (void)dn_dict_unref(copied);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
        fuzz_input input = { bytes, n_bytes };
        dn_dict *first = NULL, *second = NULL;
        int r = build(&input, NULL, &first);

        EXPECT(r == 0 || r == -EINVAL || r == -E2BIG);
        r = build(&input, first, &second);
        EXPECT(r == 0 || r == -EINVAL || r == -E2BIG);
        if (first)
                read_all(first);
        if (second)
                read_all(second);
        (void)dn_dict_unref(first);
        (void)dn_dict_unref(second);
        return 0;
}
