/* A private dbus-broker, with this process as its controller.
 *
 * Its usual launcher needs systemd. The broker itself needs only a socket to its controller, which
 * passes it a listening socket and the policy for its clients. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "test.h"
#include "test-bus-private.h"
#include "test-spawn.h"

/* The policy of one subject: may connect, owns, sends, receives. */
#define BATCH "bta(btbs)a(btssssuutt)a(btssssuutt)"
#define POLICY "a(u(" BATCH "))a(buu(" BATCH "))a(ss)bs"

static void must(int r, const char *what)
{
        if (r < 0)
                test_broken("dbus-broker, %s: %s", what, strerror(-r));
}

static int listen_at(const char *path)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        memcpy(address.sun_path, path, strlen(path) + 1);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 256) < 0)
                test_broken("listen at %s: %s", path, strerror(errno));
        return fd;
}

/* Allows everything to everyone: one batch for all users (uid -1). */
static void append_policy(sd_bus_message *m)
{
        const uint64_t first = 1, any = UINT64_MAX;

        must(sd_bus_message_open_container(m, 'v', "(" POLICY ")"), "policy");
        must(sd_bus_message_open_container(m, 'r', POLICY), "policy");
        must(sd_bus_message_open_container(m, 'a', "(u(" BATCH "))"), "policy");
        must(sd_bus_message_open_container(m, 'r', "u(" BATCH ")"), "policy");
        must(sd_bus_message_append(m, "u", UINT32_MAX), "policy");
        must(sd_bus_message_open_container(m, 'r', BATCH), "policy");
        must(sd_bus_message_append(m, BATCH, 1, first,           /* may connect */
                                   1, 1, first, 1, "",           /* may own any name */
                                   1, 1, first, "", "", "", "", 0, 0, UINT64_C(0), any,
                                   1, 1, first, "", "", "", "", 0, 0, UINT64_C(0), any),
             "policy");
        for (int i = 0; i < 3; i++)
                must(sd_bus_message_close_container(m), "policy");
        must(sd_bus_message_append(m, "a(buu(" BATCH "))", 0), "policy");
        must(sd_bus_message_append(m, "a(ss)bs", 0, 0, "session"), "policy");
        must(sd_bus_message_close_container(m), "policy");
        must(sd_bus_message_close_container(m), "policy");
}

static void add_listener(int controller_fd, int listen_fd)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *m = NULL;
        sd_bus *controller = NULL;

        must(sd_bus_new(&controller), "controller");
        must(sd_bus_set_fd(controller, controller_fd, controller_fd), "controller");
        must(sd_bus_start(controller), "controller");
        must(sd_bus_message_new_method_call(controller, &m, NULL, "/org/bus1/DBus/Broker",
                                            "org.bus1.DBus.Broker", "AddListener"),
             "AddListener");
        must(sd_bus_message_append(m, "oh", "/org/bus1/DBus/Listener/0", listen_fd), "AddListener");
        append_policy(m);
        int r = sd_bus_call(controller, m, TEST_DEADLINE_US, &error, NULL);
        if (r < 0)
                test_broken("AddListener: %s", error.message);
        sd_bus_message_unref(m);
        sd_bus_unref(controller);
}

static pid_t broker_spawn(const test_bus *bus, int fd)
{
        char max_bytes[32], max_matches[32];

        snprintf(max_bytes, sizeof max_bytes, "%lu", bus->limits.max_outgoing_bytes);
        snprintf(max_matches, sizeof max_matches, "%lu", bus->limits.max_match_rules);
        const char *argv[] = {"dbus-broker",  "--controller", "3",
                              "--machine-id", "0123456789abcdef0123456789abcdef",
                              "--max-fds",    "4096",
                              "--max-bytes",  max_bytes,
                              "--max-matches", max_matches,
                              NULL};
        test_spawn_plan plan = {.argv = argv, .fds = {-1, -1, -1, fd}, .n_fds = 4};
        return test_spawn(&plan);
}

static void broker_start(test_bus *bus)
{
        int listen_fd = listen_at(bus->path);
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
                test_broken("socketpair: %s", strerror(errno));
        bus->pid = broker_spawn(bus, pair[1]);
        close(pair[1]);
        bus->controller_fd = fcntl(pair[0], F_DUPFD_CLOEXEC, 0);
        add_listener(pair[0], listen_fd); /* closes its own copy, not the connection */
        close(listen_fd);
}

const test_bus_ops test_bus_broker_ops = {.kind = "broker", .start = broker_start};
