/* Which byte strings are valid names. */
#include "util/text.h"

#include "test.h"

static bool is_valid(const char *bytes)
{
        return dn__utf8_is_valid(bytes, strlen(bytes));
}

TEST_NO_BUS(charactersOfEveryLengthAreValid)
{
        static const char *const texts[] = {
                "plain", "\xc2\x80 \xdf\xbf",
                "\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbd",
                "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbd", "\xf0\x9f\x98\x80",
                "\xef\xb7\x8f", "\xef\xb7\xb0",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                CHECK(is_valid(texts[i]));
}

TEST_NO_BUS(whatIsNoCharacterIsInvalid)
{
        static const char *const texts[] = {
                "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", /* overlong */
                "\xed\xa0\x80", "\xed\xbf\xbf", /* surrogates */
                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", /* above Unicode */
                "\xef\xbf\xbe", "\xef\xbf\xbf", "\xef\xb7\x90", "\xef\xb7\xaf", /* noncharacters */
                "\xf0\x9f\xbf\xbe", "\xf4\x8f\xbf\xbf",
                "\x80", "a\xc3", "\xe2\x82", "\xe2\x28\xa1", "\xf0\x9f\x98", /* incomplete */
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (is_valid(texts[i]))
                        test_fail(__FILE__, __LINE__, "text %zu is valid", i);
        CHECK(!dn__utf8_is_valid("\xf0\x9f\x98\x80", 3));
}

TEST_MAIN()
