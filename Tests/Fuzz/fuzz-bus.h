/* An sd-bus connection whose other end, the bus, is the fuzzer. */
#pragma once

#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "fuzz.h"

typedef struct fuzz_bus {
        sd_bus *bus;
        int fd; /* bytes written here arrive as if from the bus */
} fuzz_bus;

static inline void fuzz_bus_write(fuzz_bus bus, const void *bytes, size_t n_bytes)
{
        EXPECT(send(bus.fd, bytes, n_bytes, MSG_NOSIGNAL) == (ssize_t)n_bytes);
}

/* The replies of the authentication are in the socket before they are requested. */
static inline fuzz_bus fuzz_bus_open(void)
{
        static const char answers[] = "DATA\r\nOK 0123456789abcdef0123456789abcdef\r\n"
                                      "AGREE_UNIX_FD\r\n";
        int room = 1 << 20, fds[2];
        fuzz_bus bus;

        EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
        EXPECT(setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
        bus.fd = fds[1];
        fuzz_bus_write(bus, answers, sizeof(answers) - 1);
        EXPECT(sd_bus_new(&bus.bus) >= 0);
        EXPECT(sd_bus_set_fd(bus.bus, fds[0], fds[0]) >= 0);
        EXPECT(sd_bus_start(bus.bus) >= 0);
        while (sd_bus_is_ready(bus.bus) == 0)
                EXPECT(sd_bus_process(bus.bus, NULL) >= 0);
        return bus;
}

static inline void fuzz_bus_close(fuzz_bus bus)
{
        (void)sd_bus_close_unref(bus.bus);
        (void)close(bus.fd);
}

/* Returns the next message, owned; NULL when there are no more, or sd-bus has disconnected. */
static inline sd_bus_message *fuzz_bus_next(fuzz_bus bus)
{
        sd_bus_message *message = NULL;
        int r;

        do
                r = sd_bus_process(bus.bus, &message);
        while (r > 0 && !message);
        return message;
}
