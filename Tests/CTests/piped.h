/* Tokens that are written to a pipe. */
#pragma once

#include <arpa/inet.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "notify-tally.h"

static inline int add_piped(const char *name, int *ret_fd)
{
        int token = NOTIFY_TOKEN_INVALID;

        CHECK_EQ(notify_register_file_descriptor(name, ret_fd, 0, &token), NOTIFY_STATUS_OK);
        return token;
}

/* The flag of Mach ports has no effect. */
static inline int add_sharing(const char *name, int fd)
{
        int token = NOTIFY_TOKEN_INVALID, same_fd = fd;

        CHECK_EQ(notify_register_file_descriptor(name, &same_fd, NOTIFY_REUSE | NOTIFY_NO_DISPATCH,
                                                 &token),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(same_fd, fd);
        return token;
}

static inline int n_waiting(int fd)
{
        int n_bytes = -1;

        CHECK_EQ(ioctl(fd, FIONREAD, &n_bytes), 0);
        return n_bytes;
}

static inline int read_token(int fd)
{
        uint32_t bytes;

        WAIT_UNTIL(n_waiting(fd) >= 4);
        CHECK_EQ(read(fd, &bytes, sizeof bytes), 4);
        return (int)ntohl(bytes);
}

/* Gives up after a while if the pipe is filled meanwhile. */
static inline void drain(int fd)
{
        char bytes[4096];

        for (int i = 0; i < 1000 && n_waiting(fd) > 0; i++)
                CHECK(read(fd, bytes, sizeof bytes) > 0);
}
