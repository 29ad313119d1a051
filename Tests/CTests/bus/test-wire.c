/* Encoding of names on the bus. */
#include "bus/wire.h"
#include "post/name.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static const char *encoded(const char *name)
{
        static char interface[DN__WIRE_INTERFACE_BYTES];
        const size_t n_prefix = strlen(dn__wire_darwin.interface_prefix);

        dn__wire_write_interface(
                &dn__wire_darwin, &(dn__name){ .text = name, .n_bytes = strlen(name) }, interface);
        CHECK(sd_bus_interface_name_is_valid(interface) > 0);
        CHECK(strncmp(interface, dn__wire_darwin.interface_prefix, n_prefix) == 0);
        return interface + n_prefix;
}

TEST_NO_BUS(readableNamesStayReadable)
{
        static const char *const pairs[][2] = {
                {"com.example.changed", "com.example.changed"},
                {"com.example.my-app.changed", "com.example.my_2dapp.changed"},
                {"a_b", "a_5fb"}, {"A", "A"}, {"'", "_27"}, {"caf\xc3\xa9", "caf_c3_a9"},
                /* Dots that are not between elements. */
                {".", "_2e"}, {".a", "_2ea"}, {"a.", "a_2e"}, {"a..b", "a_2e_2eb"},
                {"a...b", "a_2e_2e_2eb"},
                /* Digits at the beginning of an element. */
                {"1a.2b3", "_31a._32b3"}, {"a..2", "a_2e_2e2"},
        };

        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
                CHECK_STREQ(encoded(pairs[i][0]), pairs[i][1]);
}

/* The value is part of the wire format: 128-bit FNV-1a. */
TEST_NO_BUS(longNamesBecomeTheirHash)
{
        char name[301] = "";

        memset(name, 'a', 230);
        CHECK_STREQ(encoded(name), name);
        name[230] = 'a';
        CHECK_EQ(strlen(encoded(name)), 34);
        memset(name, 'a', 300);
        CHECK_STREQ(encoded(name), "_hef07127be1f9b7ddba57177fce2a24d9");
        name[299] = 'b';
        CHECK(strcmp(encoded(name), "_hef07127be1f9b7ddba57177fce2a24d9") != 0);
}

/* Decodes the escape. Decoding is unique, so equal interfaces mean equal names. */
static size_t decode(const char *text, char *out)
{
        size_t n = 0;

        for (; *text; text++) {
                unsigned value;

                if (*text == '_') {
                        CHECK_EQ(sscanf(text + 1, "%2x", &value), 1);
                        out[n++] = (char)value;
                        text += 2;
                } else {
                        out[n++] = *text;
                }
        }
        return n;
}

TEST_NO_BUS(everyNameCanBeDecodedFromItsInterface)
{
        static const char alphabet[] = "ab._-1Z'\xc3\xa9 \\,=*/\n";
        char name[32], decoded[64];

        srand(1);
        for (int i = 0; i < 200000; i++) {
                size_t n = 1 + (size_t)rand() % 20;

                for (size_t j = 0; j < n; j++)
                        name[j] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
                name[n] = '\0';
                CHECK_EQ(decode(encoded(name), decoded), n);
                CHECK(memcmp(decoded, name, n) == 0);
        }
}

TEST_MAIN()
