/* Numbers by byte strings, up to a limit. */
#include "util/recent.h"

#include "test.h"

static uint64_t *use(dn__recent *recent, const char *key)
{
        uint64_t *number = dn__recent_use(recent, key, strlen(key));

        CHECK(number);
        return number;
}

TEST_NO_BUS(aKeyKeepsItsNumber)
{
        dn__recent recent = { .max_entries = 10 };

        CHECK_EQ(*use(&recent, "a"), 0);
        *use(&recent, "a") = 1;
        *use(&recent, "b") = 2;
        CHECK_EQ(*use(&recent, "a"), 1);
        CHECK_EQ(*use(&recent, "b"), 2);
        CHECK_EQ(*use(&recent, ""), 0);
        dn__recent_clear(&recent);
        CHECK_EQ(*use(&recent, "a"), 0);
        dn__recent_clear(&recent);
}

TEST_NO_BUS(theLeastRecentlyUsedKeyIsForgotten)
{
        dn__recent recent = { .max_entries = 2 };

        *use(&recent, "a") = 1;
        *use(&recent, "b") = 2;
        CHECK_EQ(*use(&recent, "a"), 1);
        *use(&recent, "c") = 3;
        CHECK_EQ(recent.entries.n_entries, 2);
        CHECK_EQ(*use(&recent, "a"), 1);
        CHECK_EQ(*use(&recent, "c"), 3);
        CHECK_EQ(*use(&recent, "b"), 0);
        dn__recent_clear(&recent);
}

TEST_NO_BUS(keysAreForgottenByTheirBeginning)
{
        dn__recent recent = { .max_entries = 10 };

        dn__recent_forget(&recent, "a", 1);
        *use(&recent, "a1") = 1;
        *use(&recent, "a2") = 2;
        *use(&recent, "b") = 3;
        dn__recent_forget(&recent, "a", 1);
        CHECK_EQ(recent.entries.n_entries, 1);
        CHECK_EQ(*use(&recent, "b"), 3);
        CHECK_EQ(*use(&recent, "a1"), 0);
        dn__recent_clear(&recent);
        dn__recent_clear(&recent);
}

TEST_MAIN()
