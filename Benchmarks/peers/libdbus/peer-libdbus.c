/* libdbus, the reference implementation, with one filter function for everything.
 *
 * Its manual advises against using it directly. It matches nothing by itself: the filter sees every
 * signal, and the program looks up who observes it. What the socket does not take is queued without
 * a bound, so that a program that posts much has to flush. */
#include <bench.h>
#include <dbus/dbus.h>
#include <stdio.h>

#define PATH "/org/example/bench"
#define MAX_QUEUED_BYTES 8192

static DBusConnection *bus;

static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *m, void *context)
{
        char name[512];

        (void)connection, (void)context;
        if (dbus_message_get_type(m) != DBUS_MESSAGE_TYPE_SIGNAL ||
            !dbus_message_has_path(m, PATH))
                return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
        snprintf(name, sizeof name, "%s.%s", dbus_message_get_interface(m),
                 dbus_message_get_member(m));
        bench_table_call(name);
        return DBUS_HANDLER_RESULT_HANDLED;
}

static int open_bus(void)
{
        bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
        return bus && dbus_connection_add_filter(bus, on_message, NULL, NULL) ? 0 : -1;
}

static int observe(const char *name, bench_heard heard, void *context)
{
        char interface[256], rule[600];
        const char *member = bench_split(name, interface);
        DBusError error = DBUS_ERROR_INIT;

        if (!bench_table_add(name, heard, context))
                return 0;
        snprintf(rule, sizeof rule, "type='signal',path='" PATH "',interface='%s',member='%s'",
                 interface, member);
        dbus_bus_add_match(bus, rule, &error); /* with an error to set it waits for the answer */
        return dbus_error_is_set(&error) ? -1 : 0;
}

static int post(const char *name)
{
        char interface[256];
        const char *member = bench_split(name, interface);
        DBusMessage *m = dbus_message_new_signal(PATH, interface, member);
        dbus_bool_t is_sent = m && dbus_connection_send(bus, m, NULL);

        if (m)
                dbus_message_unref(m);
        return is_sent ? 0 : -1;
}

static int process(int timeout_ms)
{
        return dbus_connection_read_write_dispatch(bus, timeout_ms) ? 0 : -1;
}

static int flush(void)
{
        dbus_connection_flush(bus);
        return 0;
}

static int pace(void)
{
        return dbus_connection_get_outgoing_size(bus) > MAX_QUEUED_BYTES ? flush() : 0;
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_bus, .observe = observe, .post = post,
                                        .process = process, .pace = pace, .flush = flush};

        return bench_main(argc, argv, &peer);
}
