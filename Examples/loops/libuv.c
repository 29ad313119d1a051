/* Observes a name from a libuv loop: libuv NAME [COUNT] */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include <darwinnotify/darwinnotify.h>

typedef struct {
        uv_poll_t poll;
        uint64_t n_seen, n_wanted; /* wanted: 0 forever */
} listener;

static void changed(const dn_event *event, void *context)
{
        listener *self = context;

        printf("received %s\n", event->name);
        fflush(stdout);
        self->n_seen += event->n_posts;
        if (self->n_wanted > 0 && self->n_seen >= self->n_wanted)
                uv_close((uv_handle_t *)&self->poll, NULL); /* the loop has nothing left to do */
}

static void process(uv_poll_t *poll, int status, int events)
{
        (void)events;
        if (status == 0)
                dn_loop_process(poll->data);
}

int main(int argc, char **argv)
{
        listener self = { .n_wanted = argc > 2 ? (uint64_t)atoi(argv[2]) : 0 };
        dn_handler handler = { .invoke = changed, .context = &self };
        dn_observer *observer = NULL;
        dn_loop *loop;

        if (argc < 2 || dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        uv_poll_init(uv_default_loop(), &self.poll, dn_loop_get_fd(loop));
        self.poll.data = loop;
        uv_poll_start(&self.poll, UV_READABLE, process);
        dn_center_observe(dn_center_darwin(), argv[1], &handler, dn_loop_executor(loop), &observer);
        if (observer) { /* also without a bus: the library looks for it */
                puts("ready");
                fflush(stdout);
                uv_run(uv_default_loop(), UV_RUN_DEFAULT);
        }
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        dn_loop_close(loop);
        uv_loop_close(uv_default_loop());
        return observer ? EXIT_SUCCESS : EXIT_FAILURE;
}
