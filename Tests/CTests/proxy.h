/* A proxy for a bus that does not reveal the users of its connections. */
#ifndef DN_PROXY_H
#define DN_PROXY_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test-bus.h"
#include "test.h"

#define PROXY_QUESTION "GetConnectionUnixUser"
#define PROXY_MAX_BYTES (1 << 20)

/* Relays one connection after another to the bus; runs until the process exits. */
typedef struct proxy {
        const test_bus *bus;
        int listener;
        _Atomic bool swallows; /* questions do not reach the bus */
        _Atomic unsigned n_questions;
} proxy;

static inline int proxy_connect(const proxy *self)
{
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(to.sun_path, sizeof to.sun_path, "%s", test_bus_path(self->bus));
        CHECK(fd >= 0);
        return connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? fd : (close(fd), -1);
}

static inline bool proxy_read(int fd, void *ret, size_t n_bytes)
{
        for (size_t done = 0; done < n_bytes;) {
                ssize_t n = read(fd, (char *)ret + done, n_bytes - done);
                if (n <= 0)
                        return false;
                done += (size_t)n;
        }
        return true;
}

static inline bool proxy_write(int fd, const void *bytes, size_t n_bytes)
{
        for (size_t done = 0; done < n_bytes;) {
                ssize_t n = send(fd, (const char *)bytes + done, n_bytes - done, MSG_NOSIGNAL);
                if (n <= 0)
                        return false;
                done += (size_t)n;
        }
        return true;
}

/* Relays one byte of the authentication, which ends with BEGIN and a newline; false if the
 * connection is lost. */
static inline bool proxy_pass_byte(int from, int to, char last[6])
{
        memmove(last, last + 1, 5);
        return proxy_read(from, last + 5, 1) && proxy_write(to, last + 5, 1);
}

/* Relays one whole message of the library; false if the connection is lost. */
static inline bool proxy_pass_message(proxy *self, int from, int to)
{
        static uint8_t bytes[PROXY_MAX_BYTES];
        uint32_t body_bytes, fields_bytes;
        size_t n_bytes;

        if (!proxy_read(from, bytes, 16))
                return false;
        memcpy(&body_bytes, bytes + 4, 4); /* native byte order: both ends run on this machine */
        memcpy(&fields_bytes, bytes + 12, 4);
        n_bytes = 16 + (((size_t)fields_bytes + 7) & ~(size_t)7) + body_bytes;
        CHECK(n_bytes <= sizeof bytes);
        if (!proxy_read(from, bytes + 16, n_bytes - 16))
                return false;
        if (memmem(bytes, n_bytes, PROXY_QUESTION, strlen(PROXY_QUESTION))) {
                self->n_questions++;
                if (self->swallows)
                        return true;
        }
        return proxy_write(to, bytes, n_bytes);
}

static inline bool proxy_pass_answer(int from, int to)
{
        char bytes[4096];
        ssize_t n = read(from, bytes, sizeof bytes);

        return n > 0 && proxy_write(to, bytes, (size_t)n);
}

static inline void proxy_serve(proxy *self, int client, int server)
{
        struct pollfd fds[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
        char last[6] = "";
        bool goes_on = true;

        while (goes_on && poll(fds, 2, -1) > 0) {
                if (fds[1].revents)
                        goes_on = proxy_pass_answer(server, client);
                if (!goes_on || !fds[0].revents)
                        continue;
                goes_on = memcmp(last, "EGIN\r\n", 6) == 0
                                  ? proxy_pass_message(self, client, server)
                                  : proxy_pass_byte(client, server, last);
        }
}

static inline void *proxy_run(void *argument)
{
        proxy *self = argument;

        for (;;) {
                int client = accept4(self->listener, NULL, NULL, SOCK_CLOEXEC);
                CHECK(client >= 0);
                int server = proxy_connect(self);
                if (server >= 0) {
                        proxy_serve(self, client, server);
                        close(server);
                }
                close(client);
        }
        return NULL;
}

/* Makes it the session bus of this process. */
static inline void proxy_begin(proxy *self, const test_bus *bus)
{
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        char address[sizeof at.sun_path + 16];
        pthread_t thread;

        self->bus = bus;
        self->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK(snprintf(at.sun_path, sizeof at.sun_path, "%s/proxy", test_bus_directory(bus)) <
              (int)sizeof at.sun_path);
        CHECK_EQ(bind(self->listener, (struct sockaddr *)&at, sizeof at), 0);
        CHECK_EQ(listen(self->listener, 8), 0);
        CHECK_EQ(pthread_create(&thread, NULL, proxy_run, self), 0);
        CHECK_EQ(pthread_detach(thread), 0);
        snprintf(address, sizeof address, "unix:path=%s", at.sun_path);
        CHECK_EQ(setenv("DBUS_SESSION_BUS_ADDRESS", address, 1), 0);
}

#endif
