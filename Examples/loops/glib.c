/* Observes a name from a GLib main loop: glib NAME [COUNT] */
#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>

#include <darwinnotify/darwinnotify.h>

typedef struct {
        GMainLoop *main_loop;
        uint64_t n_seen, n_wanted; /* wanted: 0 forever */
} listener;

static void changed(const dn_event *event, void *context)
{
        listener *self = context;

        printf("received %s\n", event->name);
        fflush(stdout);
        self->n_seen += event->n_posts;
        if (self->n_wanted > 0 && self->n_seen >= self->n_wanted)
                g_main_loop_quit(self->main_loop);
}

static gboolean process(gint fd, GIOCondition condition, gpointer loop)
{
        (void)fd;
        (void)condition;
        dn_loop_process(loop);
        return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
        listener self = { g_main_loop_new(NULL, FALSE), 0, argc > 2 ? (uint64_t)atoi(argv[2]) : 0 };
        dn_handler handler = { .invoke = changed, .context = &self };
        dn_observer *observer = NULL;
        dn_loop *loop;
        guint source;

        if (argc < 2 || dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        source = g_unix_fd_add(dn_loop_get_fd(loop), G_IO_IN, process, loop);
        dn_center_observe(dn_center_darwin(), argv[1], &handler, dn_loop_executor(loop), &observer);
        if (observer) { /* also without a bus: the library looks for it */
                puts("ready");
                fflush(stdout);
                g_main_loop_run(self.main_loop);
        }
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        g_source_remove(source);
        dn_loop_close(loop);
        g_main_loop_unref(self.main_loop);
        return observer ? EXIT_SUCCESS : EXIT_FAILURE;
}
