/* Times requests of one process to another by GDBus: an object registered with introspection data,
 * whose main loop answers, and g_dbus_connection_call().
 *
 *     gdbus-calls smoke|quick|full */
#include <gio/gio.h>

#include "figures.h"

#define NAME "org.example.Bench.GDBus"
#define PATH "/org/example/Bench/GDBus"
#define INTERFACE "org.example.Bench"

static const char xml[] = "<node><interface name='" INTERFACE "'><method name='Echo'>"
                          "<arg type='a{sv}' direction='in'/><arg type='v' direction='out'/>"
                          "</method></interface></node>";

static void must_have(gconstpointer pointer, const char *what)
{
        must(pointer ? 0 : -EIO, what);
}

static GDBusConnection *connect_to_bus(void)
{
        GDBusConnection *connection = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);

        must_have(connection, "bus");
        return connection;
}

/* --- The service ---------------------------------------------------------------------------- */

static void echo(GDBusConnection *connection, const gchar *sender, const gchar *path,
                 const gchar *interface, const gchar *method, GVariant *arguments,
                 GDBusMethodInvocation *invocation, gpointer context)
{
        GVariant *info = g_variant_get_child_value(arguments, 0);
        const gchar *text = "";

        (void)connection, (void)sender, (void)path, (void)interface, (void)method, (void)context;
        (void)g_variant_lookup(info, "text", "&s", &text);
        g_dbus_method_invocation_return_value(
                invocation, g_variant_new("(v)", g_variant_new_string(text)));
        g_variant_unref(info);
}

static void serve(int ready)
{
        static const GDBusInterfaceVTable vtable = { .method_call = echo };
        GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(xml, NULL);
        GDBusConnection *connection = connect_to_bus();
        GVariant *reply;

        must_have(node, "xml");
        must(g_dbus_connection_register_object(connection, PATH, node->interfaces[0], &vtable, NULL,
                                               NULL, NULL)
                     ? 0
                     : -EIO,
             "object");
        reply = g_dbus_connection_call_sync(connection, "org.freedesktop.DBus",
                                            "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                            "RequestName", g_variant_new("(su)", NAME, 0), NULL,
                                            G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);
        must_have(reply, "name");
        must((int)write(ready, "r", 1), "write");
        g_main_loop_run(g_main_loop_new(NULL, FALSE));
}

/* --- The caller ----------------------------------------------------------------------------- */

static GDBusConnection *bus;
static unsigned n_done;

static GVariant *make_arguments(void)
{
        GVariantBuilder builder;

        g_variant_builder_init(&builder, G_VARIANT_TYPE("a{sv}"));
        g_variant_builder_add(&builder, "{sv}", "text", g_variant_new_string("blue"));
        return g_variant_new("(a{sv})", &builder);
}

static void read_reply(GVariant *reply)
{
        GVariant *value;

        must_have(reply, "call");
        g_variant_get(reply, "(v)", &value);
        must_have(g_variant_get_string(value, NULL), "value");
        g_variant_unref(value);
        g_variant_unref(reply);
}

static void one(void)
{
        read_reply(g_dbus_connection_call_sync(bus, NAME, PATH, INTERFACE, "Echo", make_arguments(),
                                               G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NONE, -1,
                                               NULL, NULL));
}

static void ended(GObject *source, GAsyncResult *result, gpointer context)
{
        (void)source, (void)context;
        read_reply(g_dbus_connection_call_finish(bus, result, NULL));
        n_done++;
}

static void many(void)
{
        n_done = 0;
        for (unsigned i = 0; i < n_calls; i++)
                g_dbus_connection_call(bus, NAME, PATH, INTERFACE, "Echo", make_arguments(),
                                       G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL,
                                       ended, NULL);
        while (n_done < n_calls)
                g_main_context_iteration(NULL, TRUE);
}

int main(int argc, char **argv)
{
        read_mode(argc, argv);
        start(serve);
        bus = connect_to_bus();
        print_figures("GDBus", one, many);
        return 0;
}
