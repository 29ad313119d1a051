/* Observes names in a poll() loop that also reads standard input; no thread is needed.
 *
 *     poll-observer [-n COUNT] NAME...
 *
 * Ends after COUNT notifications, or on the line "quit". */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <darwinnotify/darwinnotify.h>

static void changed(const dn_event *event, void *context)
{
        *(uint64_t *)context += event->n_posts;
        printf("received %s\n", event->name);
        fflush(stdout);
}

static void run(dn_loop *loop, const uint64_t *n_seen, uint64_t n_wanted)
{
        struct pollfd fds[] = {{.fd = dn_loop_get_fd(loop), .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLIN}};
        char line[64] = "";

        while ((n_wanted == 0 || *n_seen < n_wanted) && strncmp(line, "quit", 4) != 0) {
                if (poll(fds, 2, -1) < 0)
                        return;
                if (fds[0].revents)
                        dn_loop_process(loop);
                if (fds[1].revents && read(STDIN_FILENO, line, sizeof line) <= 0)
                        fds[1].fd = -1; /* end of input does not end the program */
        }
}

/* An observer is also registered without a bus: the library keeps looking for one. */
static dn_observer *observe(const char *name, const dn_executor *executor, uint64_t *n_seen)
{
        dn_handler handler = {.invoke = changed, .context = n_seen};
        dn_observer *observer = NULL;
        int r = dn_center_observe(dn_center_darwin(), name, &handler, executor, &observer);

        if (r != 0)
                fprintf(stderr, "%s: %s\n", name, r < 0 ? strerror(-r) : "no bus yet");
        return observer;
}

int main(int argc, char **argv)
{
        bool is_counted = argc > 2 && strcmp(argv[1], "-n") == 0;
        uint64_t n_wanted = is_counted ? (uint64_t)atoi(argv[2]) : 0, n_seen = 0;
        int first = is_counted ? 3 : 1, n_observers = 0;
        dn_observer *observers[16];
        dn_loop *loop;

        if (first >= argc || dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        const dn_executor *executor = dn_loop_executor(loop); /* one for all of them */
        for (int i = first; i < argc && n_observers < 16; i++) {
                observers[n_observers] = observe(argv[i], executor, &n_seen);
                n_observers += observers[n_observers] != NULL;
        }
        if (n_observers > 0) {
                puts("ready");
                fflush(stdout);
                run(loop, &n_seen, n_wanted);
        }
        for (int i = 0; i < n_observers; i++) {
                dn_observer_cancel(observers[i]);
                dn_observer_unref(observers[i]);
        }
        dn_loop_close(loop);
        dn_shutdown(); /* for leak checkers: frees everything of the library */
        return n_observers > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
