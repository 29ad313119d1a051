/* A private dbus-daemon. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "test-bus-private.h"
#include "test-spawn.h"

static const char configuration[] =
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"
        " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
        "<busconfig><type>session</type><keep_umask/><listen>%s</listen><auth>EXTERNAL</auth>\n"
        "<policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/>\n"
        "<allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/></policy>\n"
        "<limit name=\"max_match_rules_per_connection\">%lu</limit>\n"
        "<limit name=\"max_outgoing_bytes\">%lu</limit>\n"
        "<limit name=\"max_incoming_bytes\">1000000000</limit>\n"
        "<limit name=\"max_message_size\">1000000000</limit>\n"
        "<limit name=\"max_completed_connections\">100000</limit>\n"
        "<limit name=\"max_connections_per_user\">100000</limit>\n"
        "<limit name=\"max_replies_per_connection\">50000</limit>\n"
        "<servicedir>%s/services</servicedir>\n"
        "</busconfig>\n";

static void write_configuration(const test_bus *bus, const char *path)
{
        FILE *f = fopen(path, "we");

        if (!f)
                test_broken("%s: %s", path, strerror(errno));
        fprintf(f, configuration, bus->address, bus->limits.max_match_rules,
                bus->limits.max_outgoing_bytes, bus->directory);
        fclose(f);
}

/* The daemon prints its address when it listens. */
static void wait_for_address(int fd)
{
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        char text[256];

        if (poll(&wait, 1, TEST_DEADLINE_US / 1000) != 1 ||
            read(fd, text, sizeof text) <= 0)
                test_broken("dbus-daemon does not start");
}

static void daemon_start(test_bus *bus)
{
        char option[128];
        int ready[2];

        snprintf(option, sizeof option, "--config-file=%s/bus.conf", bus->directory);
        write_configuration(bus, strchr(option, '=') + 1);
        if (pipe2(ready, O_CLOEXEC) < 0)
                test_broken("pipe: %s", strerror(errno));
        const char *argv[] = {"dbus-daemon", option,     "--nofork",         "--nopidfile",
                              "--nosyslog",  "--print-address=3", NULL};
        test_spawn_plan plan = {.argv = argv, .fds = {-1, -1, -1, ready[1]}, .n_fds = 4};
        bus->pid = test_spawn(&plan);
        close(ready[1]);
        wait_for_address(ready[0]);
        close(ready[0]);
}

const test_bus_ops test_bus_daemon_ops = {.kind = "daemon", .start = daemon_start};
