/* The version of the library. */
#include <darwinnotify/library.h>
#include <stdio.h>

#include "test.h"

#if DN_VERSION < DN_VERSION_NUMBER(1, 0, 0) || DN_VERSION >= DN_VERSION_NUMBER(2, 0, 0)
#error "the version cannot be compared at compile time"
#endif

_Static_assert(DN_VERSION_NUMBER(1, 2, 0) > DN_VERSION_NUMBER(1, 1, 999), "minor before patch");
_Static_assert(DN_VERSION_NUMBER(2, 0, 0) > DN_VERSION_NUMBER(1, 999, 0), "major before minor");

TEST_NO_BUS(libraryTellsTheVersionOfItsHeaders)
{
        char expected[64];

        snprintf(expected, sizeof expected, "%d.%d.%d", DN_VERSION_MAJOR, DN_VERSION_MINOR,
                 DN_VERSION_PATCH);
        CHECK_STREQ(dn_version(), expected);
        CHECK_STREQ(DN_VERSION_STRING, expected);
}

TEST_MAIN()
