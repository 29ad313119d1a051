/* A bare Unix socket with a forwarding process in between: the least that a broker can cost.
 *
 * Every process that observes gets every packet, and looks up by itself who observes that name. */
#include <bench.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int fd;

static int open_socket(void)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *path = getenv("BENCH_ADDRESS");

        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (!path || strlen(path) >= sizeof address.sun_path)
                return -1;
        strcpy(address.sun_path, path);
        return connect(fd, (struct sockaddr *)&address, sizeof address);
}

static int observe(const char *name, bench_heard heard, void *context)
{
        static int is_known;
        char answer[256];

        (void)bench_table_add(name, heard, context);
        if (is_known++)
                return 0;
        if (send(fd, "+", 2, MSG_NOSIGNAL) < 0)
                return -1;
        return recv(fd, answer, sizeof answer, 0) > 0 ? 0 : -1;
}

static int post(const char *name)
{
        return (int)send(fd, name, strlen(name) + 1, MSG_NOSIGNAL);
}

static int process(int timeout_ms)
{
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        char name[256];

        if (poll(&wait, 1, timeout_ms) <= 0)
                return 0;
        ssize_t n = recv(fd, name, sizeof name, 0);
        if (n > 0)
                bench_table_call(name);
        return n > 0 ? 1 : -1;
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_socket, .observe = observe, .post = post,
                                        .process = process};

        return bench_main(argc, argv, &peer);
}
