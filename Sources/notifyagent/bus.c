/* A connection to a bus, which is re-established when it is lost.
 *
 * It retries for half a minute, and again after each change at the address of the bus. */
#include "bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent.h"
#include "path.h"
#include "say.h"

#define FIRST_PAUSE_US 50000
#define MAX_DOUBLINGS 6
#define MAX_TRIES 14

static void connect_again(void *context);

void bus_init(bus *bus, agent *agent, bool is_system)
{
        *bus = (struct bus){ .agent = agent, .is_system = is_system };
}

void bus_add_user(bus *bus, bus_user *user)
{
        user->next = bus->users;
        bus->users = user;
}

const char *bus_get_label(const bus *bus)
{
        return bus->is_system ? "system" : "session";
}

/* --- Where it listens ----------------------------------------------------------------------- */

/* An address that is set only for this library's programs also applies to their session. */
static const char *get_own_address(const bus *bus)
{
        const char *address = bus->is_system ? NULL : getenv("DARWIN_NOTIFY_BUS");

        return address && strchr(address, ':') ? address : NULL;
}

static char *find_socket(const bus *bus)
{
        static const char prefix[] = "unix:path=";
        const char *address = get_own_address(bus), *runtime = getenv("XDG_RUNTIME_DIR");
        char *path = NULL;

        if (!address)
                address = getenv(bus->is_system ? "DBUS_SYSTEM_BUS_ADDRESS"
                                                : "DBUS_SESSION_BUS_ADDRESS");
        if (address && strncmp(address, prefix, sizeof(prefix) - 1) == 0) {
                address += sizeof(prefix) - 1;
                return strndup(address, strcspn(address, ",;"));
        }
        if (address)
                return NULL;
        if (bus->is_system)
                return strdup("/run/dbus/system_bus_socket");
        return runtime && asprintf(&path, "%s/bus", runtime) >= 0 ? path : NULL;
}

/* --- Connecting ----------------------------------------------------------------------------- */

static int open_address(const char *address, sd_bus **ret_connection)
{
        sd_bus *connection = NULL;
        int r = sd_bus_new(&connection);

        if (r >= 0)
                r = sd_bus_set_address(connection, address);
        if (r >= 0)
                r = sd_bus_set_bus_client(connection, true);
        if (r >= 0)
                r = sd_bus_start(connection);
        if (r >= 0)
                *ret_connection = connection;
        else
                (void)sd_bus_unref(connection);
        return r;
}

static int open_connection(const bus *bus, sd_bus **ret_connection)
{
        const char *address = get_own_address(bus);

        if (address)
                return open_address(address, ret_connection);
        return bus->is_system ? sd_bus_open_system(ret_connection)
                              : sd_bus_open_user(ret_connection);
}

static int at_retry(sd_event_source *timer, uint64_t time_us, void *context)
{
        (void)timer, (void)time_us;
        connect_again(context);
        return 0;
}

/* The bus may be starting, and fail at first. */
static void on_change(void *context)
{
        bus_try(context);
}

static void watch_socket(bus *bus)
{
        if (!bus->socket)
                bus->socket = find_socket(bus);
        if (bus->socket && !bus->watch)
                bus->watch = path_watch_new(bus->agent, bus->socket, on_change, bus);
}

static void try_later(bus *bus)
{
        unsigned doublings = bus->n_tries < MAX_DOUBLINGS ? bus->n_tries : MAX_DOUBLINGS;

        bus->retry = sd_event_source_disable_unref(bus->retry);
        watch_socket(bus);
        if (bus->n_tries++ >= MAX_TRIES && bus->watch)
                return;
        (void)sd_event_add_time_relative(bus->agent->event, &bus->retry, CLOCK_MONOTONIC,
                                         (uint64_t)FIRST_PAUSE_US << doublings, 1000, at_retry,
                                         bus);
}

static void tell_loss(bus *bus)
{
        for (bus_user *user = bus->users; user; user = user->next)
                user->lost(user);
}

/* The connection is closed: it must not be freed inside its own callback. */
static int on_disconnected(sd_bus_message *message, void *context, sd_bus_error *error)
{
        bus *bus = context;

        (void)message, (void)error;
        if (!bus->has_said_loss && bus->n_tries == 0)
                say("the %s bus is lost; looking for it again", bus_get_label(bus));
        bus->has_said_loss = true;
        tell_loss(bus);
        (void)sd_bus_detach_event(bus->connection);
        sd_bus_close(bus->connection);
        try_later(bus);
        return 0;
}

static int on_hello(sd_bus_message *message, void *context, sd_bus_error *error)
{
        bus *bus = context;

        (void)error;
        if (sd_bus_message_is_method_error(message, NULL))
                return 0;
        bus->n_tries = 0;
        bus->watch = path_watch_free(bus->watch);
        return 0;
}

static int follow(bus *bus, sd_bus *connection)
{
        int r = sd_bus_match_signal(connection, NULL, NULL, "/org/freedesktop/DBus/Local",
                                    "org.freedesktop.DBus.Local", "Disconnected", on_disconnected,
                                    bus);

        if (r >= 0)
                r = sd_bus_call_method_async(connection, NULL, "org.freedesktop.DBus",
                                             "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                             "GetId", on_hello, bus, NULL);
        return r < 0 ? r : sd_bus_attach_event(connection, bus->agent->event, 0);
}

static int open_and_follow(bus *bus)
{
        sd_bus *connection = NULL;
        int r = open_connection(bus, &connection);

        if (r >= 0)
                r = follow(bus, connection);
        if (r < 0) {
                (void)sd_bus_close_unref(connection);
                return r;
        }
        bus->connection = connection;
        return 0;
}

static void connect_again(void *context)
{
        bus *bus = context;

        if (bus->connection && sd_bus_is_open(bus->connection) > 0)
                return;
        if (bus->connection)
                tell_loss(bus); /* its end may not have been reported yet */
        bus->connection = sd_bus_close_unref(bus->connection);
        if (open_and_follow(bus) < 0) {
                try_later(bus);
                return;
        }
        bus->retry = sd_event_source_disable_unref(bus->retry);
        for (bus_user *user = bus->users; user; user = user->next)
                user->found(user);
}

void bus_open(bus *bus)
{
        connect_again(bus);
        if (!bus->connection)
                tell_loss(bus);
}

void bus_try(bus *bus)
{
        if (bus->connection && sd_bus_is_open(bus->connection) > 0)
                return;
        bus->n_tries = 0;
        connect_again(bus);
}

/* --- Calling -------------------------------------------------------------------------------- */

int bus_callv(const bus *bus, const bus_method *method, sd_bus_slot **ret_slot,
              sd_bus_message_handler_t on_reply, void *context, const char *types,
              va_list arguments)
{
        sd_bus_message *message = NULL;
        int r;

        if (!bus->connection)
                return -ENOTCONN;
        r = sd_bus_message_new_method_call(bus->connection, &message, method->service,
                                           method->path, method->interface, method->member);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, false);
        if (r >= 0 && *types)
                r = sd_bus_message_appendv(message, types, arguments);
        if (r >= 0)
                r = sd_bus_call_async(bus->connection, ret_slot, message, on_reply, context,
                                      method->timeout_us);
        (void)sd_bus_message_unref(message);
        return r < 0 ? r : 0;
}

int bus_call(const bus *bus, const bus_method *method, sd_bus_slot **ret_slot,
             sd_bus_message_handler_t on_reply, void *context, const char *types, ...)
{
        va_list arguments;
        int r;

        va_start(arguments, types);
        r = bus_callv(bus, method, ret_slot, on_reply, context, types, arguments);
        va_end(arguments);
        return r;
}

void bus_deinit(bus *bus)
{
        bus->retry = sd_event_source_disable_unref(bus->retry);
        bus->watch = path_watch_free(bus->watch);
        bus->connection = sd_bus_close_unref(bus->connection);
        free(bus->socket);
}
