/* A connection to a bus. */
#include "bus/connection.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "bus/pidfd.h"

static int start(sd_bus *bus, const dn__address *address)
{
        int r;

        r = sd_bus_set_address(bus, address->address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        /* On a single-user bus, file descriptors are accepted and closed with their message:
         * without them dbus-broker disconnects a receiver that matches a broadcast with a
         * descriptor. With other users on the bus, libsystemd could be made to leak them, so there
         * they are refused. */
        if (r >= 0)
                r = sd_bus_negotiate_fds(bus, !address->is_shared);
        return r < 0 ? r : sd_bus_start(bus);
}

/* Also guards what other threads have opened at the same time: the connections of other centers. */
static void guard(dn__connection *connection, const dn__pidfds *before)
{
        dn__pidfds now = dn__pidfds_list();
        int fd = -1;

        connection->fork_guard = dn__fork_guard_new(sd_bus_get_fd(connection->bus));
        for (size_t i = 0; i < DN__CONNECTION_MAX_PIDFDS; i++) {
                fd = dn__pidfds_next_new(before, &now, fd);
                if (fd < 0)
                        return;
                connection->pidfd_guards[i] = dn__fork_guard_new(fd);
        }
}

int dn__connection_open(dn__connection *connection, const dn__address *address)
{
        dn__pidfds before = dn__pidfds_list();
        int r;

        r = sd_bus_new(&connection->bus);
        if (r < 0)
                return r;
        r = start(connection->bus, address);
        if (r < 0)
                connection->bus = sd_bus_close_unref(connection->bus);
        else
                guard(connection, &before);
        return r < 0 ? r : 0;
}

/* If the host has closed the descriptor, the sd-bus object is leaked: releasing it would end the
 * process or close a file of the host. */
void dn__connection_close(dn__connection *connection)
{
        if (!connection->bus)
                return;
        if (sd_bus_get_fd(connection->bus) < 0 || dn__connection_is_intact(connection))
                (void)sd_bus_close_unref(connection->bus);
        (void)dn__fork_guard_free(connection->fork_guard);
        for (size_t i = 0; i < DN__CONNECTION_MAX_PIDFDS; i++)
                (void)dn__fork_guard_free(connection->pidfd_guards[i]);
        free(connection->unique_name);
        *connection = (dn__connection){ .wire = connection->wire };
}

/* Between processes on one machine the kernel accepts what fits in one of its buffers whole. */
static bool takes_whole(sd_bus *bus)
{
        int domain = 0;
        socklen_t n_bytes = sizeof(domain);

        return getsockopt(sd_bus_get_fd(bus), SOL_SOCKET, SO_DOMAIN, &domain, &n_bytes) == 0 &&
               domain == AF_UNIX;
}

/* Returns 1 if the bus has just said hello. */
static int greet(dn__connection *connection)
{
        const char *name;
        int r;

        r = sd_bus_is_ready(connection->bus);
        if (r <= 0)
                return r;
        r = sd_bus_get_unique_name(connection->bus, &name);
        if (r < 0)
                return r; /* unreachable: the bus has told the name when it is ready */
        connection->unique_name = strdup(name);
        if (!connection->unique_name)
                return -ENOMEM;
        connection->takes_whole = takes_whole(connection->bus);
        /* A bus that hangs for a while answers later: giving up earlier would leave the bus with
         * a rule that we do not know of. */
        (void)sd_bus_set_method_call_timeout(connection->bus, UINT64_MAX);
        return 1;
}

/* The descriptor changes while a list of addresses is tried one by one. */
static int process(dn__connection *connection, sd_bus_message **ret_message)
{
        int r = sd_bus_process(connection->bus, ret_message), fd;

        if (connection->unique_name)
                return r;
        fd = sd_bus_get_fd(connection->bus);
        if (fd >= 0)
                dn__fork_guard_set(connection->fork_guard, fd);
        return r;
}

int dn__connection_step(dn__connection *connection, sd_bus_message **ret_message)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int r, n;

        if (connection->is_broken)
                return -ECONNRESET;
        n = process(connection, &message);
        r = n;
        /* sd-bus reports a lost connection with a message of its own and has already closed the
         * descriptor. */
        if (r >= 0 && (connection->is_broken || sd_bus_is_open(connection->bus) <= 0))
                r = -ECONNRESET;
        if (r >= 0 && !connection->unique_name)
                r = greet(connection);
        if (r < 0)
                return r;
        *ret_message = DN__TAKE(message);
        return n;
}

int dn__connection_get_wait(dn__connection *connection, dn__wait *ret_wait)
{
        dn__wait wait = { .fd = sd_bus_get_fd(connection->bus) };
        int events = sd_bus_get_events(connection->bus);

        if (wait.fd < 0 || events < 0 || sd_bus_get_timeout(connection->bus, &wait.until_us) < 0)
                return -ENOTCONN; /* unreachable: sd-bus closes it in a step, which reports that */
        wait.events = (short)events;
        *ret_wait = wait;
        return 0;
}

bool dn__connection_is_own(const dn__connection *connection, const char *sender)
{
        return connection->unique_name && strcmp(sender, connection->unique_name) == 0;
}

bool dn__connection_can_send(dn__connection *connection)
{
        uint64_t n_queued = 0;

        return connection->unique_name && !connection->is_broken &&
               sd_bus_get_n_queued_write(connection->bus, &n_queued) >= 0 && n_queued == 0;
}

/* If the bus ended, what it had not read looks as if it were read, but the socket has an error. */
bool dn__connection_is_read(dn__connection *connection)
{
        int fd = sd_bus_get_fd(connection->bus), n_unread = 0, error = 0;
        socklen_t n_bytes = sizeof(error);

        if (fd < 0 || ioctl(fd, SIOCOUTQ, &n_unread) < 0 || n_unread > 0)
                return false;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n_bytes) == 0)
                connection->was_unread = connection->was_unread || error;
        return !connection->was_unread;
}

/* Does not check the descriptor for each post: if its number now belongs to a file of the host,
 * send() fails, unless that is a socket. */
bool dn__connection_write(dn__connection *connection, const char *bytes, size_t n_bytes)
{
        ssize_t n_taken = send(sd_bus_get_fd(connection->bus), bytes, n_bytes,
                       MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n_taken == (ssize_t)n_bytes)
                return true;
        connection->was_unread = connection->was_unread || (n_taken < 0 && errno == ECONNRESET);
        /* After a partial write nothing else can be sent. */
        connection->is_broken = connection->is_broken || n_taken >= 0 ||
                                (errno != EAGAIN && errno != EINTR);
        return false;
}

/* Returns whether sd-bus may write to the connection; if not, only reconnecting helps. sd-bus also
 * writes to files that are not sockets. */
static bool check_descriptor(dn__connection *connection)
{
        connection->is_broken = connection->is_broken || !dn__connection_is_intact(connection);
        return !connection->is_broken;
}

/* Returns 0 or a negative errno, after which only reconnecting helps. */
static int conclude(dn__connection *connection, int r)
{
        connection->is_broken = connection->is_broken || r < 0;
        return r < 0 ? r : 0;
}

/* sd-bus queues what the socket does not accept. */
int dn__connection_send(dn__connection *connection, sd_bus_message *message, uint64_t *ret_serial)
{
        if (!check_descriptor(connection))
                return -EBADF;
        return conclude(connection, sd_bus_send(connection->bus, message, ret_serial));
}

void dn__connection_refuse_call(sd_bus_message *message)
{
        (void)sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_OBJECT,
                                         "There is no object %s.",
                                         sd_bus_message_get_path(message));
}

bool dn__connection_is_bus(sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message);

        return sender && strcmp(sender, DN__BUS_NAME) == 0;
}

bool dn__connection_is_refusal(sd_bus_message *answer)
{
        return sd_bus_message_is_method_error(answer, NULL) || !dn__connection_is_bus(answer);
}

int dn__connection_ask(dn__connection *connection, const dn__query *query,
                       sd_bus_slot **ret_slot)
{
        if (!check_descriptor(connection))
                return -EBADF;
        return conclude(connection,
                        sd_bus_call_method_async(connection->bus, ret_slot, DN__BUS_NAME,
                                                 DN__BUS_PATH, DN__BUS_NAME, query->method,
                                                 query->handler, query->context,
                                                 query->types, query->argument,
                                                 query->flags));
}

void dn__connection_tell(dn__connection *connection, const char *method, const char *argument)
{
        dn__query query = { .method = method, .types = "s", .argument = argument };

        (void)dn__connection_ask(connection, &query, NULL);
}
