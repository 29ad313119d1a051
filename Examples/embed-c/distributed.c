/* Passes a title with a notification of the distributed center.
 *
 *     distributed COUNT NAME          prints COUNT notifications
 *     distributed post NAME TITLE     posts one
 */
#include <darwinnotify/darwinnotify.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT "the player"

static void heard(const dn_event *event, void *context)
{
        const char *title = dn_dict_get_string(event->user_info, "title");

        *(int *)context -= 1;
        printf("received %s: %s\n", event->name, title ? title : "no title");
        fflush(stdout);
}

static int listen_to(const char *name, int n_left)
{
        dn_filter filter = {.name = name, .object = OBJECT};
        dn_handler handler = {.invoke = heard, .context = &n_left};
        dn_loop *loop;

        if (dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        const dn_executor *executor = dn_loop_executor(loop); /* handlers run on this thread */
        struct pollfd readable = {.fd = dn_loop_get_fd(loop), .events = POLLIN};
        int r = dn_center_observe_filtered(dn_center_distributed(), &filter, &handler, executor,
                                           NULL);

        if (r < 0) {
                fprintf(stderr, "%s: %s\n", name, strerror(-r));
                return EXIT_FAILURE;
        }
        puts("ready");
        fflush(stdout);
        while (n_left > 0 && poll(&readable, 1, -1) > 0)
                dn_loop_process(loop);
        dn_shutdown();
        dn_loop_close(loop);
        return EXIT_SUCCESS;
}

static int post(const char *name, const char *title)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *info = NULL;
        int r;

        dn_dict_builder_set_string(builder, "title", title);
        r = dn_dict_builder_finish(builder, &info); /* also reports earlier failures */
        if (r == 0)
                r = dn_center_post(dn_center_distributed(), name, OBJECT, info, 0);
        dn_dict_unref(info);
        if (r != 0)
                fprintf(stderr, "%s: %s\n", name, r < 0 ? strerror(-r) : "no bus");
        dn_shutdown();
        return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
        if (argc == 4 && strcmp(argv[1], "post") == 0)
                return post(argv[2], argv[3]);
        if (argc == 3)
                return listen_to(argv[2], atoi(argv[1]));
        fprintf(stderr, "usage: distributed COUNT NAME | distributed post NAME TITLE\n");
        return EXIT_FAILURE;
}
