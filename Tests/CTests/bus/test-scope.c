/* Different spellings of an address for one rendezvous. */
#include "bus/scope.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void check(const char *address, const char *expected)
{
        char *scope = dn__scope_of_address(address);

        CHECK_STREQ(scope, expected);
        free(scope);
}

/* Returns prefix + the test's directory, which involves no link, + suffix. */
static const char *in_directory(const char *prefix, const char *suffix)
{
        static char texts[2][3 * PATH_MAX];
        static unsigned n;
        char *text = texts[n++ % 2], *directory = realpath(test_directory(), NULL);

        snprintf(text, sizeof(texts[0]), "%s%s%s", prefix, directory, suffix);
        free(directory);
        return text;
}

TEST_NO_BUS(equivalentPathsHaveOneScope)
{
        check("unix:path=/nowhere/bus", "unix:path=/nowhere/bus");
        check("unix:path=//nowhere///bus", "unix:path=/nowhere/bus");
        check("unix:path=/nowhere/./bus", "unix:path=/nowhere/bus");
        check("unix:path=/nowhere/x/../bus", "unix:path=/nowhere/bus");
        check("unix:path=/nowhere/bus/", "unix:path=/nowhere/bus");
        check("unix:path=/nowhere/%62us", "unix:path=/nowhere/bus");
        check("unix:path=/nowhere/%62%75%73", "unix:path=/nowhere/bus");
        check("unix:path=/no%20where/a%2Cb", "unix:path=/no%20where/a%2cb");
}

TEST_NO_BUS(guidAndKeyOrderAreNotPartOfTheScope)
{
        check("unix:path=/nowhere/bus,guid=0123", "unix:path=/nowhere/bus");
        check("unix:guid=0123,path=/nowhere/bus", "unix:path=/nowhere/bus");
        check("tcp:port=1,host=localhost,guid=01", "tcp:host=localhost,port=1");
        check("unix:abstract=/tmp/%64bus-x", "unix:abstract=/tmp/dbus-x");
        check("unix:abstract=/a//b", "unix:abstract=/a//b"); /* its bytes are the name */
}

TEST_NO_BUS(symbolicLinksAreResolved)
{
        CHECK_EQ(mkdir(in_directory("", "/run"), 0700), 0);
        CHECK_EQ(symlink("run", in_directory("", "/var")), 0);
        check(in_directory("unix:path=", "/var/bus"), in_directory("unix:path=", "/run/bus"));
        fclose(fopen(in_directory("", "/run/socket"), "w"));
        CHECK_EQ(symlink("socket", in_directory("", "/run/bus")), 0);
        check(in_directory("unix:path=", "/var/bus"), in_directory("unix:path=", "/run/socket"));
}

TEST_NO_BUS(firstExistingAddressOfAListCounts)
{
        char list[4 * PATH_MAX];

        fclose(fopen(in_directory("", "/bus"), "w"));
        snprintf(list, sizeof(list), "unix:path=/nowhere/bus;%s;unix:path=/nowhere/else",
                 in_directory("unix:path=", "/bus"));
        check(list, in_directory("unix:path=", "/bus"));
        check(";unix:path=/nowhere/bus;unix:path=/nowhere/else;", "unix:path=/nowhere/bus");
        check("unix:path=/nowhere/bus;unix:abstract=a", "unix:abstract=a");
}

TEST_NO_BUS(textThatIsNotAnAddressIsUnchanged)
{
        static const char *const texts[] = { "garbage", ";;;",       "",
                                             "disabled:", "unix:",   "unix:path",
                                             "unknown:key=value" };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                check(texts[i], texts[i]);
        check("unix:path=%zz", "unix:path=%25zz");
        check("unix:path=", "unix:path=");
        check("unix:path=%00", "unix:path=%2500");
}

TEST_NO_BUS(veryLongAddressesAreNormalizedToo)
{
        static char address[200000] = "unix:path=";
        char *scope;

        for (size_t i = strlen(address); i < sizeof(address) - 2; i += 2)
                memcpy(address + i, "/x", 2);
        scope = dn__scope_of_address(address);
        CHECK(scope && strlen(scope) >= sizeof(address) - 3);
        free(scope);
}

TEST_MAIN()
