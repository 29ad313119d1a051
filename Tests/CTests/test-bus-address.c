/* Which bus a center talks to. */
#include "bus/address.h"

#include <stdlib.h>

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

TEST_NO_BUS(theSessionBusComesFromTheEnvironment)
{
        unsetenv("DARWIN_NOTIFY_BUS");
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/a", 1);
        setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
        check(NULL, "unix:path=/a");
        check("session", "unix:path=/a");
        unsetenv("DBUS_SESSION_BUS_ADDRESS");
        check(NULL, "unix:path=/run/user/7/bus");
        setenv("XDG_RUNTIME_DIR", "/a b;c", 1);
        check(NULL, "unix:path=/a%20b%3bc/bus");
        unsetenv("XDG_RUNTIME_DIR");
        check(NULL, NULL);
}

TEST_NO_BUS(theEnvironmentChoosesTheBusUnlessTheCallerDoes)
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

TEST_NO_BUS(theSystemBusIsSharedWithOtherUsers)
{
        dn__address address;

        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/sys", 1);
        check("system", "unix:path=/sys");
        unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
        CHECK_EQ(dn__address_resolve("system", &address), 0);
        CHECK(address.is_shared);
        dn__address_deinit(&address);
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/a", 1);
        CHECK_EQ(dn__address_resolve("session", &address), 0);
        CHECK(!address.is_shared);
        dn__address_deinit(&address);
}

TEST_NO_BUS(theIdentifierOfOneServerIsNotPartOfTheMeetingPlace)
{
        check("unix:path=/a,guid=0123456789abcdef", "unix:path=/a");
        check("unix:guid=01,path=/a;unix:path=/b,guid=02;unix:path=/c",
              "unix:guid=01,path=/a;unix:path=/b;unix:path=/c");
}

TEST_NO_BUS(addressesThatWouldStartAProgramAreNoBus)
{
        check("unixexec:path=/bin/sh", NULL);
        setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:", 1);
        check("session", NULL);
}

TEST_NO_BUS(anEmptyAddressIsNone)
{
        setenv("DBUS_SESSION_BUS_ADDRESS", "", 1);
        setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
        check("session", "unix:path=/run/user/7/bus");
        unsetenv("XDG_RUNTIME_DIR");
        check("session", NULL);
}

TEST_NO_BUS(aTransportIsNamedAtTheBeginningOfAnAddress)
{
        check("unix:path=/x-machine-a/bus", "unix:path=/x-machine-a/bus");
        check("unix:path=/unixexec:/autolaunch:", "unix:path=/unixexec:/autolaunch:");
        check("unix:path=/a;unix:path=/x-machine-b", "unix:path=/a;unix:path=/x-machine-b");
        check("foo:;unixexec:path=/bin/sh", NULL);
        check("unix:path=/a;autolaunch:", NULL);
        check("x-machine-unix:pid=1", NULL);
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x-machine-a/bus", 1);
        check("session", "unix:path=/x-machine-a/bus");
        setenv("DBUS_SESSION_BUS_ADDRESS", ";;unixexec:path=/bin/sh", 1);
        check("session", NULL);
}

TEST_MAIN()
