/* GDBus of GLib: a subscription for each observer, delivered in the main context.
 *
 * A thread of GLib reads and writes the socket, so each message changes threads on either side.
 * What is posted is queued there without a bound: a flood has to flush now and then. */
#include <bench.h>
#include <gio/gio.h>

#define PATH "/org/example/bench"
#define FLUSH_EVERY 64

typedef struct observer {
        bench_heard heard;
        void *context;
} observer;

static GDBusConnection *bus;

static int open_bus(void)
{
        bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
        return bus ? 0 : -1;
}

static void on_signal(GDBusConnection *connection, const gchar *sender, const gchar *path,
                      const gchar *interface, const gchar *member, GVariant *parameters,
                      gpointer context)
{
        const observer *o = context;

        (void)connection, (void)sender, (void)path, (void)interface, (void)member, (void)parameters;
        o->heard(o->context, 1);
}

/* Subscribing does not wait for the bus; the answer to a call that follows it says it is done. */
static int observe(const char *name, bench_heard heard, void *context)
{
        char interface[256];
        const char *member = bench_split(name, interface);
        observer *o = g_new(observer, 1);

        *o = (observer){.heard = heard, .context = context};
        g_dbus_connection_signal_subscribe(bus, NULL, interface, member, PATH, NULL,
                                           G_DBUS_SIGNAL_FLAGS_NONE, on_signal, o, g_free);
        return 0;
}

static int settle(void)
{
        GVariant *reply = g_dbus_connection_call_sync(
                bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "GetId", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);

        if (!reply)
                return -1;
        g_variant_unref(reply);
        return 0;
}

static int post(const char *name)
{
        char interface[256];
        const char *member = bench_split(name, interface);

        return g_dbus_connection_emit_signal(bus, NULL, PATH, interface, member, NULL, NULL) ? 0
                                                                                             : -1;
}

static gboolean is_time(gpointer context)
{
        *(gboolean *)context = TRUE;
        return G_SOURCE_REMOVE;
}

static int process(int timeout_ms)
{
        gboolean is_over = FALSE;
        guint timer = g_timeout_add((guint)timeout_ms, is_time, &is_over);

        g_main_context_iteration(NULL, TRUE);
        if (!is_over)
                g_source_remove(timer);
        return 0;
}

static int flush(void)
{
        return g_dbus_connection_flush_sync(bus, NULL, NULL) ? 0 : -1;
}

static int pace(void)
{
        static unsigned n_posted;

        return ++n_posted % FLUSH_EVERY == 0 ? flush() : 0;
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_bus, .observe = observe, .settle = settle,
                                        .post = post, .process = process, .pace = pace,
                                        .flush = flush};

        return bench_main(argc, argv, &peer);
}
