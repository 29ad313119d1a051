/* Prints posts like a program for macOS, with <notify.h> and a descriptor.
 *
 *     notify COUNT NAME...     ends after COUNT notifications, 0: never
 */
#include <arpa/inet.h>
#include <darwinnotify/library.h>
#include <notify.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_NAMES 16

static int tokens[MAX_NAMES];

/* Registers all names with one descriptor and returns it. */
static int register_names(char **names, int n_names)
{
        int fd = -1;

        for (int i = 0; i < n_names; i++) {
                uint32_t status = notify_register_file_descriptor(
                        names[i], &fd, i > 0 ? NOTIFY_REUSE : 0, &tokens[i]);

                if (status != NOTIFY_STATUS_OK) {
                        fprintf(stderr, "%s: status %u\n", names[i], (unsigned)status);
                        exit(EXIT_FAILURE);
                }
        }
        return fd;
}

/* Reads the token of one post and prints its name. */
static void report(int fd, char **names, int n_names)
{
        uint32_t number;

        if (read(fd, &number, sizeof number) != sizeof number)
                exit(EXIT_FAILURE);
        for (int i = 0; i < n_names; i++)
                if (tokens[i] == (int)ntohl(number))
                        printf("received %s\n", names[i]);
        fflush(stdout);
}

int main(int argc, char **argv)
{
        int n_left = argc > 1 ? atoi(argv[1]) : 0;
        char **names = argv + 2;
        int n_names = argc - 2;

        if (n_names < 1 || n_names > MAX_NAMES) {
                fprintf(stderr, "usage: notify COUNT NAME...\n");
                return EXIT_FAILURE;
        }
        struct pollfd readable = { .fd = register_names(names, n_names), .events = POLLIN };
        puts("ready");
        fflush(stdout);
        while (poll(&readable, 1, -1) > 0) {
                report(readable.fd, names, n_names);
                if (n_left > 0 && --n_left == 0)
                        break;
        }
        for (int i = 0; i < n_names; i++)
                notify_cancel(tokens[i]);
        dn_shutdown(); /* for leak checkers: frees everything of the library */
        return EXIT_SUCCESS;
}
