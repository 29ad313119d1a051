/* Which byte strings are valid names. */
#include "util/text.h"

#include "test.h"

static bool is_valid(const char *bytes)
{
        return dn__utf8_is_valid(bytes, strlen(bytes));
}

TEST_NO_BUS(charactersOfEveryLengthAreValid)
{
        CHECK(is_valid("plain"));
        CHECK(is_valid("\xc2\x80 \xdf\xbf"));
        CHECK(is_valid("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbd"));
        CHECK(is_valid("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbd"));
        CHECK(is_valid("\xf0\x9f\x98\x80"));
}

TEST_NO_BUS(overlongFormsAreInvalid)
{
        CHECK(!is_valid("\xc0\xaf"));
        CHECK(!is_valid("\xc1\xbf"));
        CHECK(!is_valid("\xe0\x9f\xbf"));
        CHECK(!is_valid("\xf0\x8f\xbf\xbf"));
}

TEST_NO_BUS(surrogatesAndValuesAboveUnicodeAreInvalid)
{
        CHECK(!is_valid("\xed\xa0\x80"));
        CHECK(!is_valid("\xed\xbf\xbf"));
        CHECK(!is_valid("\xf4\x90\x80\x80"));
        CHECK(!is_valid("\xf5\x80\x80\x80"));
        CHECK(!is_valid("\xf8\x88\x80\x80\x80"));
}

TEST_NO_BUS(noncharactersAreInvalid)
{
        CHECK(!is_valid("\xef\xbf\xbe"));
        CHECK(!is_valid("\xef\xbf\xbf"));
        CHECK(!is_valid("\xef\xb7\x90"));
        CHECK(!is_valid("\xef\xb7\xaf"));
        CHECK(is_valid("\xef\xb7\x8f"));
        CHECK(is_valid("\xef\xb7\xb0"));
        CHECK(!is_valid("\xf0\x9f\xbf\xbe"));
        CHECK(!is_valid("\xf4\x8f\xbf\xbf"));
}

TEST_NO_BUS(incompleteCharactersAreInvalid)
{
        CHECK(!is_valid("\x80"));
        CHECK(!is_valid("a\xc3"));
        CHECK(!is_valid("\xe2\x82"));
        CHECK(!is_valid("\xe2\x28\xa1"));
        CHECK(!dn__utf8_is_valid("\xf0\x9f\x98\x80", 3));
}

TEST_MAIN()
