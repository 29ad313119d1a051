/* The descriptor that a watch gives to its host. */
#pragma once

#include <stdint.h>

#include "util/fork.h"

/* It is readable when the connection is ready for what is expected, or at a deadline. */
typedef struct dn__watch_fd {
        int fd;       /* an epoll that combines the two below */
        int timer_fd; /* for deadlines */
        int bus_fd;   /* or -1 */
        dn__fork_guard *guard;
        dn__fork_guard *timer_guard;
} dn__watch_fd;

/* All are -1 until it is opened. */
void dn__watch_fd_init(dn__watch_fd *watch_fd);

/* Returns 0 or -ENOMEM. Close it in either case. */
int dn__watch_fd_open(dn__watch_fd *watch_fd);
void dn__watch_fd_close(dn__watch_fd *watch_fd);

/* Sets the descriptor of the connection, or -1, and the events to wait for. Returns 0 or
 * -ENOMEM. */
int dn__watch_fd_set_bus(dn__watch_fd *watch_fd, int bus_fd, short events);

/* Sets the deadline. Any thread. */
void dn__watch_fd_set_timer(const dn__watch_fd *watch_fd, uint64_t until_us);
