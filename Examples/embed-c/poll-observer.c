/* Observes a name from a poll() loop that also reads standard input: no thread calls back.
 *
 *     poll-observer NAME [COUNT]     ends after COUNT notifications, else with the line "quit"
 */
#include <poll.h>
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
                        fds[1].fd = -1; /* the end of the input does not end the program */
        }
}

int main(int argc, char **argv)
{
        uint64_t n_seen = 0;
        dn_handler handler = {.invoke = changed, .context = &n_seen};
        dn_observer *observer = NULL;
        dn_executor executor;
        dn_loop *loop;

        if (argc < 2 || dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        executor = dn_loop_executor(loop);
        int r = dn_center_observe(dn_center_darwin(), argv[1], handler, &executor, &observer);
        if (r < 0)
                fprintf(stderr, "%s\n", dn_is_offline(r) ? "no bus yet" : strerror(-r));
        if (observer) { /* also without a bus: the library looks for it */
                puts("ready");
                fflush(stdout);
                run(loop, &n_seen, argc > 2 ? (uint64_t)atoi(argv[2]) : 0);
        }
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        dn_loop_close(loop);
        return observer ? EXIT_SUCCESS : EXIT_FAILURE;
}
