/* Files of a host that has closed all descriptors, with the numbers that the library had. */
#ifndef DN_FOREIGN_H
#define DN_FOREIGN_H

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static inline void close_all(void)
{
        CHECK_EQ(syscall(SYS_close_range, 3U, ~0U, 0U), 0);
}

enum { N_FOREIGN = 20 };

typedef struct foreign {
        int file;
        int pipe[2];
        int sockets[2];
} foreign;

static foreign others[N_FOREIGN];

/* All kinds, with the numbers that the library had. */
static inline void open_others(const char *directory)
{
        char path[512];

        for (int i = 0; i < N_FOREIGN; i++) {
                CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, others[i].sockets), 0);
                CHECK_EQ(pipe2(others[i].pipe, O_NONBLOCK), 0);
                snprintf(path, sizeof path, "%s/other-%d", directory, i);
                others[i].file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
                CHECK(others[i].file >= 0);
        }
}

static inline bool is_readable(int fd)
{
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        return poll(&wait, 1, 0) > 0;
}

/* They are open, and nothing was written into them. */
static inline void check_others(void)
{
        struct stat status;

        for (int i = 0; i < N_FOREIGN && others[i].file; i++) {
                CHECK_EQ(fstat(others[i].file, &status), 0);
                CHECK(S_ISREG(status.st_mode));
                CHECK_EQ(status.st_size, 0);
                CHECK_EQ(status.st_blocks, 0);
                CHECK(!is_readable(others[i].pipe[0]));
                CHECK(!is_readable(others[i].sockets[0]) && !is_readable(others[i].sockets[1]));
                CHECK_EQ(write(others[i].pipe[1], "", 1), 1);
                CHECK_EQ(write(others[i].sockets[1], "", 1), 1);
                CHECK(is_readable(others[i].pipe[0]) && is_readable(others[i].sockets[0]));
        }
}

#endif
