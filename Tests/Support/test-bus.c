/* The life of a private bus. */
#include "test-bus.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"
#include "test-bus-private.h"
#include "test-private.h"
#include "test-spawn.h"

static const test_bus_limits generous = {.max_match_rules = 500000,
                                         .max_outgoing_bytes = 1000000000};

static void start_nothing(test_bus *bus)
{
        (void)bus;
}

static const test_bus_ops none_ops = {.kind = "none", .start = start_nothing};

static const test_bus_ops *find_ops(const char *kind)
{
        if (!kind)
                kind = getenv("DN_TEST_BROKER");
        if (!kind || strcmp(kind, test_bus_daemon_ops.kind) == 0)
                return &test_bus_daemon_ops;
        if (DN_HAS_BUS && strcmp(kind, test_bus_broker_ops.kind) == 0)
                return &test_bus_broker_ops;
        if (strcmp(kind, none_ops.kind) == 0)
                return &none_ops;
        test_broken("there is no bus of kind %s", kind);
}

test_bus *test_bus_prepare(const char *kind)
{
        test_bus *bus = calloc(1, sizeof *bus);

        if (!bus)
                test_broken("out of memory");
        test_leave_to_exit(bus);
        bus->ops = find_ops(kind);
        bus->limits = generous;
        bus->controller_fd = -1;
        test_directory_new(bus->directory, sizeof bus->directory);
        snprintf(bus->path, sizeof bus->path, "%s/bus", bus->directory);
        if (test_bus_is_none(bus))
                strcpy(bus->address, "none");
        else
                snprintf(bus->address, sizeof bus->address, "unix:path=%s", bus->path);
        return bus;
}

static void set_limit(unsigned long *limit, unsigned long wanted)
{
        if (wanted == TEST_BUS_NOTHING)
                *limit = 0;
        else if (wanted > 0)
                *limit = wanted;
}

test_bus *test_bus_start(const char *kind, const test_bus_limits *limits)
{
        test_bus *bus = test_bus_prepare(kind);

        if (limits) {
                set_limit(&bus->limits.max_match_rules, limits->max_match_rules);
                set_limit(&bus->limits.max_outgoing_bytes, limits->max_outgoing_bytes);
        }
        test_bus_start_again(bus);
        return bus;
}

test_bus *test_bus_begin_with(const test_bus_limits *limits)
{
        test_bus *bus = test_bus_start(NULL, limits);

        test_bus_use(bus);
        return bus;
}

test_bus *test_bus_begin(void)
{
        return test_bus_begin_with(NULL);
}

const char *test_bus_address(const test_bus *bus)
{
        return bus->address;
}

const char *test_bus_path(const test_bus *bus)
{
        return bus->path;
}

const char *test_bus_directory(const test_bus *bus)
{
        return bus->directory;
}

pid_t test_bus_pid(const test_bus *bus)
{
        return bus->pid;
}

bool test_bus_is_broker(const test_bus *bus)
{
        return DN_HAS_BUS && (bus ? bus->ops : find_ops(NULL)) == &test_bus_broker_ops;
}

bool test_bus_is_none(const test_bus *bus)
{
        return bus->ops == &none_ops;
}

unsigned test_bus_n_connections(const test_bus *bus, int *ret_fd)
{
        unsigned n = 0;

        for (int fd = 0; fd < 256; fd++) {
                struct sockaddr_un address = {0};
                socklen_t n_bytes = sizeof address - 1;

                if (getpeername(fd, (struct sockaddr *)&address, &n_bytes) < 0 ||
                    address.sun_family != AF_UNIX || strcmp(address.sun_path, bus->path) != 0)
                        continue;
                n++;
                if (ret_fd)
                        *ret_fd = fd;
        }
        return n;
}

static void use_none_in(const char *directory)
{
        setenv("XDG_RUNTIME_DIR", directory, 1);
        setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:", 1);
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
}

void test_bus_use_none(void)
{
        use_none_in(test_directory());
}

void test_bus_use_nothing(void)
{
        test_directory_cover("/run/user", "mode=0755");
        test_directory_cover("/dev/shm", "mode=1777");
        unsetenv("XDG_RUNTIME_DIR");
        unsetenv("DBUS_SESSION_BUS_ADDRESS");
        unsetenv("DARWIN_NOTIFY_BUS");
}

void test_bus_use(const test_bus *bus)
{
        if (test_bus_is_none(bus)) {
                use_none_in(bus->directory);
        } else {
                setenv("XDG_RUNTIME_DIR", bus->directory, 1);
                setenv("DBUS_SESSION_BUS_ADDRESS", bus->address, 1);
                unsetenv("DARWIN_NOTIFY_BUS");
        }
}

void test_bus_kill(test_bus *bus)
{
        if (bus->pid > 0)
                test_kill_and_reap(bus->pid);
        bus->pid = 0;
        if (bus->controller_fd >= 0)
                close(bus->controller_fd);
        bus->controller_fd = -1;
}

void test_bus_start_again(test_bus *bus)
{
        unlink(bus->path);
        bus->ops->start(bus);
}

void test_bus_pause(test_bus *bus)
{
        test_stop_process(bus->pid);
}

void test_bus_resume(test_bus *bus)
{
        kill(bus->pid, SIGCONT);
}

test_bus *test_bus_stop(test_bus *bus)
{
        if (!bus)
                return NULL;
        test_bus_kill(bus);
        test_remove_tree(bus->directory);
        free(bus);
        return NULL;
}
