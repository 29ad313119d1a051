/* One connection to a bus. */
#include "bus/connection.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "bus/marshal.h"
#include "bus/name.h"

/* Path and interface, with their keys; dbus-daemon and dbus-broker refuse more than 1024. */
#define RULE_BYTES 512

static int start(sd_bus *bus, const dn__address *address)
{
        int r;

        r = sd_bus_set_address(bus, address->address);
        if (r < 0)
                return r;
        r = sd_bus_set_bus_client(bus, true);
        if (r < 0)
                return r;
        /* On a bus of one user descriptors are accepted, and closed with their message: without
         * them dbus-broker disconnects whoever a broadcast with a descriptor matches. Where other
         * users are, libsystemd could be made to leak them, so there it is the other way round. */
        r = sd_bus_negotiate_fds(bus, !address->is_shared);
        if (r < 0)
                return r;
        return sd_bus_start(bus);
}

int dn__connection_open(dn__connection *connection, const dn__address *address)
{
        int r;

        r = sd_bus_new(&connection->bus);
        if (r < 0)
                return r;
        r = start(connection->bus, address);
        if (r < 0) {
                connection->bus = sd_bus_close_unref(connection->bus);
                return r;
        }
        connection->fork_guard = dn__fork_guard_new(sd_bus_get_fd(connection->bus));
        return 0;
}

void dn__connection_close(dn__connection *connection)
{
        if (!connection->bus)
                return;
        (void)dn__fork_guard_free(connection->fork_guard);
        free(connection->unique_name);
        (void)sd_bus_close_unref(connection->bus);
        *connection = (dn__connection){ 0 };
}

/* Between processes of one machine a short message is one piece for the kernel. */
static bool takes_whole(sd_bus *bus)
{
        int domain = 0;
        socklen_t n_bytes = sizeof(domain);

        return getsockopt(sd_bus_get_fd(bus), SOL_SOCKET, SO_DOMAIN, &domain, &n_bytes) == 0 &&
               domain == AF_UNIX;
}

/* Returns 1 when the bus has said hello just now. */
static int greet(dn__connection *connection)
{
        const char *name;
        int r;

        r = sd_bus_is_ready(connection->bus);
        if (r <= 0)
                return r;
        r = sd_bus_get_unique_name(connection->bus, &name);
        if (r < 0)
                return r;
        connection->unique_name = strdup(name);
        if (!connection->unique_name)
                return -ENOMEM;
        connection->takes_whole = takes_whole(connection->bus);
        /* A bus that hangs for a while answers afterwards: to give up a question before would
         * leave a rule that the bus has, but we do not know of. */
        (void)sd_bus_set_method_call_timeout(connection->bus, UINT64_MAX);
        return 1;
}

int dn__connection_step(dn__connection *connection, sd_bus_message **ret_message)
{
        sd_bus_message *message = NULL;
        int r, n;

        n = sd_bus_process(connection->bus, &message);
        r = n;
        /* sd-bus tells of a lost connection with a message of its own, and has closed the
         * descriptor by then. */
        if (r >= 0 && (connection->is_broken || sd_bus_is_open(connection->bus) <= 0))
                r = -ECONNRESET;
        if (r >= 0 && !connection->unique_name)
                r = greet(connection);
        if (r < 0) {
                (void)sd_bus_message_unref(message);
                return r;
        }
        *ret_message = message;
        return n;
}

int dn__connection_get_wait(dn__connection *connection, int *ret_fd, short *ret_events,
                            uint64_t *ret_until_us)
{
        uint64_t until_us;
        int fd, events, r;

        fd = sd_bus_get_fd(connection->bus);
        if (fd < 0)
                return fd;
        /* It changes while a list of addresses is tried one by one. */
        if (!connection->unique_name)
                dn__fork_guard_set(connection->fork_guard, fd);
        events = sd_bus_get_events(connection->bus);
        if (events < 0)
                return events;
        r = sd_bus_get_timeout(connection->bus, &until_us);
        if (r < 0)
                return r;
        *ret_fd = fd;
        *ret_events = (short)events;
        *ret_until_us = until_us;
        return 0;
}

bool dn__connection_can_send(dn__connection *connection)
{
        uint64_t n_queued = 0;

        return connection->unique_name && !connection->is_broken &&
               sd_bus_get_n_queued_write(connection->bus, &n_queued) >= 0 && n_queued == 0;
}

bool dn__connection_is_read(dn__connection *connection)
{
        int n_bytes = 0;

        return ioctl(sd_bus_get_fd(connection->bus), SIOCOUTQ, &n_bytes) < 0 || n_bytes == 0;
}

/* Writes a post past sd-bus, which has nothing to write at the moment. Returns 0 or -EAGAIN. */
static int write_post(dn__connection *connection, const char *name, size_t n_name_bytes,
                      uint64_t generation, uint64_t region)
{
        char bytes[DN__MARSHAL_BYTES];
        ssize_t n_bytes, n_taken;

        if (!connection->takes_whole)
                return -EAGAIN;
        /* The serials of sd-bus begin at 1. */
        n_bytes = (ssize_t)dn__marshal_post(name, n_name_bytes, generation, region,
                                            UINT32_C(1) << 31 | connection->n_written++, bytes);
        n_taken = send(sd_bus_get_fd(connection->bus), bytes, (size_t)n_bytes,
                       MSG_DONTWAIT | MSG_NOSIGNAL);
        /* Behind a part of it nothing else can be sent. */
        if (n_taken > 0 && n_taken < n_bytes)
                connection->is_broken = true;
        return n_taken == n_bytes ? 0 : -EAGAIN;
}

int dn__connection_send_post(dn__connection *connection, const char *name, size_t n_name_bytes,
                             uint64_t generation, uint64_t region)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        sd_bus_message *message = NULL;
        int r;

        r = write_post(connection, name, n_name_bytes, generation, region);
        if (r == 0 || connection->is_broken)
                return r;
        /* What the socket does not take sd-bus queues, and an error it finds itself. */
        (void)dn__name_to_interface(name, n_name_bytes, interface);
        r = sd_bus_message_new_signal(connection->bus, &message, DN__WIRE_PATH, interface,
                                      DN__WIRE_MEMBER);
        if (r >= 0)
                r = sd_bus_message_append(message, "stt", name, generation, region);
        if (r >= 0)
                r = sd_bus_send(connection->bus, message, NULL);
        (void)sd_bus_message_unref(message);
        connection->is_broken = connection->is_broken || r < 0;
        return r < 0 ? r : 0;
}

/* Further arguments are accepted, so that the body can grow; descriptors are not. */
static bool read_body(sd_bus_message *message, dn__signal *signal)
{
        const char *signature = sd_bus_message_get_signature(message, true);

        if (!signature || signature[0] != 's' || strchr(signature, 'h'))
                return false;
        if (sd_bus_message_read_basic(message, 's', &signal->name) <= 0 ||
            dn__name_is_local(signal->name) ||
            dn__name_check(signal->name, &signal->n_name_bytes) < 0)
                return false;
        if (strncmp(signature, "stt", 3) != 0)
                return true;
        return sd_bus_message_read_basic(message, 't', &signal->generation) > 0 &&
               sd_bus_message_read_basic(message, 't', &signal->region) > 0;
}

static bool is_equal(const char *found, const char *expected)
{
        return found && strcmp(found, expected) == 0;
}

bool dn__connection_read_post(const dn__connection *connection, sd_bus_message *message,
                              dn__signal *ret_signal)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        dn__signal signal = { 0 };

        if (sd_bus_message_is_signal(message, NULL, DN__WIRE_MEMBER) <= 0 ||
            !is_equal(sd_bus_message_get_path(message), DN__WIRE_PATH) ||
            !read_body(message, &signal))
                return false;
        /* The interface brought it here, but the name decides: they have to agree. */
        (void)dn__name_to_interface(signal.name, signal.n_name_bytes, interface);
        if (!is_equal(sd_bus_message_get_interface(message), interface))
                return false;
        signal.sender = sd_bus_message_get_sender(message);
        if (!signal.sender)
                return false;
        signal.is_own = is_equal(signal.sender, connection->unique_name);
        *ret_signal = signal;
        return true;
}

void dn__connection_refuse_call(sd_bus_message *message)
{
        (void)sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_OBJECT,
                                         "This process has no objects.");
}

int dn__connection_ask(dn__connection *connection, const char *method, const char *argument,
                       sd_bus_message_handler_t handler, void *context, sd_bus_slot **ret_slot)
{
        int r;

        r = sd_bus_call_method_async(connection->bus, ret_slot, DN__BUS_NAME, DN__BUS_PATH,
                                     DN__BUS_NAME, method, handler, context, "s", argument);
        connection->is_broken = connection->is_broken || r < 0;
        return r < 0 ? r : 0;
}

static void format_rule(const char *interface, char ret_rule[RULE_BYTES])
{
        (void)snprintf(ret_rule, RULE_BYTES, "type='signal',path='%s'%s%s%s", DN__WIRE_PATH,
                       interface ? ",interface='" : "", interface ? interface : "",
                       interface ? "'" : "");
}

int dn__connection_add_match(dn__connection *connection, const char *interface,
                             sd_bus_message_handler_t handler, void *context,
                             sd_bus_slot **ret_slot)
{
        char rule[RULE_BYTES];

        format_rule(interface, rule);
        return dn__connection_ask(connection, "AddMatch", rule, handler, context, ret_slot);
}

int dn__connection_ask_user(dn__connection *connection, const char *sender,
                            sd_bus_message_handler_t handler, void *context,
                            sd_bus_slot **ret_slot)
{
        return dn__connection_ask(connection, "GetConnectionUnixUser", sender, handler, context,
                                  ret_slot);
}

void dn__connection_remove_match(dn__connection *connection, const char *interface)
{
        sd_bus_message *message = NULL;
        char rule[RULE_BYTES];
        int r;

        format_rule(interface, rule);
        r = sd_bus_message_new_method_call(connection->bus, &message, DN__BUS_NAME, DN__BUS_PATH,
                                           DN__BUS_NAME, "RemoveMatch");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", rule);
        if (r >= 0)
                r = sd_bus_message_set_expect_reply(message, false);
        if (r >= 0)
                r = sd_bus_send(connection->bus, message, NULL);
        connection->is_broken = connection->is_broken || r < 0;
        (void)sd_bus_message_unref(message);
}
