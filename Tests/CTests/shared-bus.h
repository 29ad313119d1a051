/* A bus that several users share, as a system bus is. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test-bus.h"
#include "test-child.h"
#include "test.h"

/* A bus rejects users that the machine does not know: these exist everywhere. */
#define OWNER 1
#define STRANGER 65534

#define SHARED_DOCTYPE \
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n" \
        " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"

static char shared_path[200], shared_address[256];
static test_child *shared_daemon;
static test_bus *shared_bus;

/* Starts a dbus-daemon with a configuration, which names its socket. */
static inline void shared_daemon_start(const char *configuration)
{
        const char *option = FORMAT("--config-file=%s/shared.conf", test_directory());
        FILE *f = fopen(strchr(option, '=') + 1, "we");
        CHECK(f != NULL);
        fputs(configuration, f);
        fclose(f);
        const char *argv[] = {"dbus-daemon", option, "--nofork", "--nopidfile", "--nosyslog",
                              "--print-address", NULL};
        shared_daemon = test_spawn_program(argv);
        CHECK(test_child_read_line(shared_daemon) != NULL);
}

/* Reserves a path in a directory that every user can traverse. */
static inline void shared_bus_prepare(void)
{
        const char *base = getenv("DN_TEST_DIRECTORY");

        SKIP_IF(geteuid() != 0, "only root can be several users");
        if (base)
                CHECK_EQ(chmod(base, 0711), 0);
        CHECK_EQ(chmod(test_directory(), 0711), 0);
        snprintf(shared_path, sizeof shared_path, "%s/shared", test_directory());
}

/* Makes it the system bus, which this process and its children use. */
static inline void shared_bus_use(void)
{
        CHECK_EQ(chmod(shared_path, 0777), 0);
        snprintf(shared_address, sizeof shared_address, "unix:path=%s", shared_path);
        setenv("DBUS_SYSTEM_BUS_ADDRESS", shared_address, 1);
        setenv("DARWIN_NOTIFY_BUS", "system", 1);
}

static inline const char *shared_bus_of_environment(void)
{
        return getenv("DBUS_SYSTEM_BUS_ADDRESS");
}

/* Becomes another user for good. The runtime directory is still root's. */
static inline void shared_bus_become(const char *user)
{
        uid_t number = (uid_t)atoi(user);

        unsetenv("XDG_RUNTIME_DIR");
        CHECK_EQ(setresgid(number, number, number), 0);
        CHECK_EQ(setresuid(number, number, number), 0);
}

/* Starts a bus that allows everything to everyone. */
static inline void shared_bus_start(void)
{
        shared_bus_prepare();
        shared_bus = test_bus_start(NULL, NULL);
        snprintf(shared_path, sizeof shared_path, "%s", test_bus_path(shared_bus));
        CHECK_EQ(chmod(test_bus_directory(shared_bus), 0711), 0);
        shared_bus_use();
}

static inline void shared_bus_stop(void)
{
        shared_daemon = test_child_kill(shared_daemon);
        shared_bus = test_bus_stop(shared_bus);
}
