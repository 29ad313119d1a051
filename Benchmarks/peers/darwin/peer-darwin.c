/* DarwinNotify in C; the first argument says where callbacks run: inline, thread or loop. */
#include <bench.h>
#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct observer {
        bench_heard heard;
        void *context;
} observer;

static dn_loop *loop; /* NULL: threads of the library call back */
static const dn_executor *(*make_executor)(void);

static const dn_executor *make_loop_executor(void)
{
        return dn_loop_executor(loop);
}

static int open_center(void)
{
        return make_executor == make_loop_executor ? dn_loop_new(&loop) : 0;
}

/* No call just connects, so a name that nobody observes is posted. */
static int connect_bus(void)
{
        return dn_center_post(dn_center_darwin(), "org.example.bench.hello", NULL, NULL, 0);
}

static void invoke(const dn_event *event, void *context)
{
        const observer *o = context;

        o->heard(o->context, event->n_posts);
}

static int observe(const char *name, bench_heard heard, void *context)
{
        observer *o = malloc(sizeof *o);

        *o = (observer){.heard = heard, .context = context};
        dn_handler handler = {.invoke = invoke, .context = o, .destroy = free};
        return dn_center_observe(dn_center_darwin(), name, &handler, make_executor(), NULL);
}

static int post(const char *name)
{
        return dn_center_post(dn_center_darwin(), name, NULL, NULL, 0);
}

static int process(int timeout_ms)
{
        struct pollfd wait = {.fd = dn_loop_get_fd(loop), .events = POLLIN};

        if (poll(&wait, 1, timeout_ms) <= 0)
                return 0;
        return dn_loop_process(loop);
}

static int flush(void)
{
        return dn_flush(60000000);
}

/* If too many posts are waiting for the bus, they are merged by name, so this polls until none is
 * waiting. */
static int pace_each(void)
{
        while (dn_flush(0) == -ETIMEDOUT)
                usleep(50);
        return 0;
}

int main(int argc, char **argv)
{
        bench_peer peer = {.open = open_center, .connect = connect_bus, .observe = observe,
                           .post = post, .pace_each = pace_each, .flush = flush};
        const char *kind = argc > 1 ? argv[1] : "";

        if (strcmp(kind, "inline") == 0) {
                make_executor = dn_executor_inline;
        } else if (strcmp(kind, "thread") == 0) {
                make_executor = dn_executor_delivery_thread;
        } else if (strcmp(kind, "loop") == 0) {
                make_executor = make_loop_executor;
                peer.process = process;
        } else {
                fprintf(stderr, "usage: peer-darwin inline|thread|loop COMMAND...\n");
                return 2;
        }
        return bench_main(argc - 1, argv + 1, &peer);
}
