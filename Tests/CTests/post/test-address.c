/* Selects the bus of a center. */
#include "post/address.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void check(const char *bus, const char *expected)
{
        dn__address address;

        CHECK_EQ(dn__address_resolve(bus, &address), 0);
        if (expected)
                CHECK_STREQ(address.address, expected);
        else
                CHECK(address.address == NULL);
        dn__address_deinit(&address);
}

TEST_NO_BUS(sessionBusComesFromTheEnvironment)
{
        unsetenv("DARWIN_NOTIFY_BUS");
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/a", 1);
        setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
        check(NULL, "unix:path=/a");
        check("session", "unix:path=/a");
        setenv("DBUS_SESSION_BUS_ADDRESS", "", 1);
        check(NULL, "unix:path=/run/user/7/bus");
        unsetenv("DBUS_SESSION_BUS_ADDRESS");
        check(NULL, "unix:path=/run/user/7/bus");
        setenv("XDG_RUNTIME_DIR", "/a b", 1);
        check(NULL, "unix:path=/a b/bus");
        setenv("XDG_RUNTIME_DIR", "/a;unixexec:path=/bin/sh,", 1);
        check(NULL, NULL);
}

TEST_NO_BUS(withoutVariablesTheBusInTheUsersDirectoryIsUsed)
{
        const char *directory = FORMAT("/run/user/%d", (int)geteuid());

        test_directory_cover("/run/user", "mode=0755");
        unsetenv("DBUS_SESSION_BUS_ADDRESS");
        unsetenv("XDG_RUNTIME_DIR");
        check(NULL, NULL);
        CHECK_EQ(mkdir(directory, 0700), 0);
        check(NULL, FORMAT("unix:path=%s/bus", directory));
}

TEST_NO_BUS(environmentSelectsTheBusUnlessTheCallerDoes)
{
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/a", 1);
        setenv("DARWIN_NOTIFY_BUS", "unix:path=/b", 1);
        check(NULL, "unix:path=/b");
        check("session", "unix:path=/a");
        setenv("DARWIN_NOTIFY_BUS", "session", 1);
        check(NULL, "unix:path=/a");
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        check(NULL, NULL);
}

static void check_shared(const char *bus, bool is_shared)
{
        dn__address address;

        CHECK_EQ(dn__address_resolve(bus, &address), 0);
        CHECK_EQ(address.is_shared, is_shared);
        dn__address_deinit(&address);
}

TEST_NO_BUS(systemBusIsSharedWithOtherUsers)
{
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/sys", 1);
        check("system", "unix:path=/sys");
        unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
        check_shared("system", true);
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/a", 1);
        check_shared("session", false);
}

TEST_NO_BUS(theAddressOfTheSystemBusIsAnAddressLikeOthers)
{
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unixexec:path=/bin/sh", 1);
        check("system", NULL);
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "", 1);
        check("system", "unix:path=/run/dbus/system_bus_socket");
}

TEST_NO_BUS(systemBusIsSharedByItsAddressToo)
{
        unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
        check_shared("unix:path=/run/dbus/system_bus_socket", true);
        check_shared("unix:path=/sys", false);
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/sys", 1);
        check_shared("unix:path=/sys", true);
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/sys", 1);
        check_shared("session", true);
        check_shared("none", false);
}

TEST_NO_BUS(serverGuidIsNotPartOfTheScope)
{
        check("unix:path=/a,guid=0123456789abcdef", "unix:path=/a");
        check("unix:guid=01,path=/a;unix:path=/b,guid=02;unix:path=/c",
              "unix:path=/a;unix:path=/b;unix:path=/c");
        check("unix:guid=0123,path=/guid=1,abstract=guid=2,guid=3,guid=4;unix:guid=5",
              "unix:path=/guid=1,abstract=guid=2;unix:");
}

TEST_NO_BUS(addressesThatWouldStartAProgramAreRejected)
{
        static const char *const rejected[] = {"unixexec:path=/bin/sh", ";;unixexec:path=/bin/sh",
                                               "foo:;unixexec:path=/bin/sh", "autolaunch:",
                                               "unix:path=/a;autolaunch:", "x-machine-unix:pid=1"};
        /* A transport is recognized at the beginning of an address alone. */
        static const char *const accepted[] = {"unix:path=/x-machine-a/bus",
                                               "unix:path=/unixexec:/autolaunch:",
                                               "unix:path=/a;unix:path=/x-machine-b"};

        for (size_t i = 0; i < sizeof rejected / sizeof *rejected; i++) {
                check(rejected[i], NULL);
                setenv("DBUS_SESSION_BUS_ADDRESS", rejected[i], 1);
                check("session", NULL);
        }
        for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
                setenv("DBUS_SESSION_BUS_ADDRESS", accepted[i], 1);
                check("session", accepted[i]);
        }
}

static void check_scope(const char *bus, const char *expected)
{
        dn__address address;

        CHECK_EQ(dn__address_resolve(bus, &address), 0);
        CHECK_STREQ(address.scope, expected);
        dn__address_deinit(&address);
}

TEST_NO_BUS(processesWithoutABusStillShareAScope)
{
        setenv("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/bin/sh", 1);
        check_scope("session", "session");
        check_scope("none", "none");
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        check_scope(NULL, "none");
        check_scope("unix:path=/nowhere/bus", "unix:path=/nowhere/bus");
}

/* Returns prefix + the test's directory, which involves no link, + suffix. */
static const char *in_directory(const char *prefix, const char *suffix)
{
        static char texts[3][3 * PATH_MAX];
        static unsigned n;
        char *text = texts[n++ % 3], *directory = realpath(test_directory(), NULL);

        snprintf(text, sizeof(texts[0]), "%s%s%s", prefix, directory, suffix);
        free(directory);
        return text;
}

TEST_NO_BUS(linksToTheDirectoryOfTheSocketAreNotPartOfTheScope)
{
        const char *scope;

        CHECK_EQ(mkdir(in_directory("", "/run"), 0700), 0);
        CHECK_EQ(symlink("run", in_directory("", "/var")), 0);
        scope = in_directory("unix:path=", "/run/bus");
        check_scope(in_directory("unix:path=", "/var/bus"), scope);
        check_scope(in_directory("unix:path=", "/var/../run//bus,guid=0123"), scope);
}

TEST_NO_BUS(firstAddressOfAListIsTheScope)
{
        check_scope("unix:path=/nowhere/bus;;unix:path=/nowhere/else;", "unix:path=/nowhere/bus");
        check_scope(";unix:path=/nowhere/bus;unix:abstract=a", "unix:path=/nowhere/bus");
}

TEST_NO_BUS(otherAddressesAreTheirOwnScope)
{
        static const char *const addresses[] = { "unix:path=/no%20where/bus", "unix:path=",
                                                 "unix:path=relative/bus", "unix:abstract=/a//b",
                                                 "tcp:host=localhost,port=1", "disabled:" };

        for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
                check_scope(addresses[i], addresses[i]);
}

TEST_MAIN()
