/* Observes a name from the event loop of systemd: sd-event NAME [COUNT] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include <darwinnotify/darwinnotify.h>

typedef struct {
        sd_event *event_loop;
        uint64_t n_seen, n_wanted; /* wanted: 0 forever */
} listener;

static void changed(const dn_event *event, void *context)
{
        listener *self = context;

        printf("received %s\n", event->name);
        fflush(stdout);
        self->n_seen += event->n_posts;
        if (self->n_wanted > 0 && self->n_seen >= self->n_wanted)
                sd_event_exit(self->event_loop, EXIT_SUCCESS);
}

static int process(sd_event_source *source, int fd, uint32_t events, void *loop)
{
        (void)source;
        (void)fd;
        (void)events;
        return dn_loop_process(loop);
}

int main(int argc, char **argv)
{
        listener self = { NULL, 0, argc > 2 ? (uint64_t)atoi(argv[2]) : 0 };
        dn_handler handler = { .invoke = changed, .context = &self };
        sd_event_source *source = NULL;
        dn_observer *observer = NULL;
        dn_loop *loop;
        int status = EXIT_FAILURE;

        if (argc < 2 || sd_event_default(&self.event_loop) < 0 || dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        sd_event_add_io(self.event_loop, &source, dn_loop_get_fd(loop), EPOLLIN, process, loop);
        dn_center_observe(dn_center_darwin(), argv[1], &handler, dn_loop_executor(loop), &observer);
        if (source && observer) { /* also without a bus: the library looks for it */
                puts("ready");
                fflush(stdout);
                status = sd_event_loop(self.event_loop);
        }
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        sd_event_source_unref(source);
        dn_loop_close(loop);
        sd_event_unref(self.event_loop);
        return status;
}
