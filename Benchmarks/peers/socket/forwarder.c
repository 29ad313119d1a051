/* Forwards each packet of a client to all clients that want packets: the least broker.
 *
 *     forwarder PATH     listens there; packets of up to 256 bytes
 *
 * A client wants packets once it has sent the packet "+", which comes back to it alone. There are
 * neither names nor rules, and a client that does not read keeps all others waiting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_CLIENTS 512

static int clients[MAX_CLIENTS];
static int n_clients;

static int listen_at(const char *path)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 128) < 0) {
                perror(path);
                exit(1);
        }
        return fd;
}

static void watch(int poll_fd, int fd)
{
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd,
                  &(struct epoll_event){.events = EPOLLIN, .data.fd = fd});
}

static void drop(int fd)
{
        for (int i = 0; i < n_clients; i++)
                if (clients[i] == fd)
                        clients[i] = clients[--n_clients];
        close(fd);
}

static void forward(int fd)
{
        char packet[256];
        ssize_t n = recv(fd, packet, sizeof packet, 0);

        if (n <= 0) {
                drop(fd);
                return;
        }
        if (packet[0] == '+' && n_clients < MAX_CLIENTS) {
                clients[n_clients++] = fd;
                (void)!send(fd, packet, (size_t)n, MSG_NOSIGNAL);
                return;
        }
        for (int i = 0; i < n_clients; i++)
                (void)!send(clients[i], packet, (size_t)n, MSG_NOSIGNAL);
}

int main(int argc, char **argv)
{
        int poll_fd = epoll_create1(EPOLL_CLOEXEC);
        int listen_fd = listen_at(argc > 1 ? argv[1] : "forwarder");
        struct epoll_event event;

        watch(poll_fd, listen_fd);
        while (epoll_wait(poll_fd, &event, 1, -1) > 0) {
                if (event.data.fd != listen_fd) {
                        forward(event.data.fd);
                        continue;
                }
                int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
                if (fd >= 0)
                        watch(poll_fd, fd);
        }
        return 1;
}
