/* The descriptor that a watch gives to its host. */
#include "inspect/watch-fd.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "util/clock.h"

void dn__watch_fd_init(dn__watch_fd *watch_fd)
{
        *watch_fd = (dn__watch_fd){ .fd = -1, .timer_fd = -1, .bus_fd = -1 };
}

int dn__watch_fd_open(dn__watch_fd *watch_fd)
{
        struct epoll_event event = { .events = EPOLLIN };
        int fd = epoll_create1(EPOLL_CLOEXEC);
        int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

        watch_fd->fd = fd;
        watch_fd->timer_fd = timer_fd;
        watch_fd->guard = dn__fork_guard_new(fd);
        watch_fd->timer_guard = dn__fork_guard_new(timer_fd);
        return fd < 0 || timer_fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, timer_fd, &event) < 0
                       ? -ENOMEM
                       : 0;
}

void dn__watch_fd_close(dn__watch_fd *watch_fd)
{
        (void)dn__fork_guard_close(watch_fd->timer_guard, watch_fd->timer_fd);
        (void)dn__fork_guard_close(watch_fd->guard, watch_fd->fd);
}

/* The connection may have a new descriptor, even one with the same number, which epoll does not
 * know yet. */
int dn__watch_fd_set_bus(dn__watch_fd *watch_fd, int bus_fd, short events)
{
        struct epoll_event event = { .events = (uint32_t)events };

        if (watch_fd->bus_fd >= 0 && watch_fd->bus_fd != bus_fd)
                (void)epoll_ctl(watch_fd->fd, EPOLL_CTL_DEL, watch_fd->bus_fd, NULL);
        watch_fd->bus_fd = bus_fd;
        return bus_fd < 0 || epoll_ctl(watch_fd->fd, EPOLL_CTL_MOD, bus_fd, &event) == 0 ||
                               epoll_ctl(watch_fd->fd, EPOLL_CTL_ADD, bus_fd, &event) == 0
                       ? 0
                       : -ENOMEM;
}

void dn__watch_fd_set_timer(const dn__watch_fd *watch_fd, uint64_t until_us)
{
        struct itimerspec until = { 0 }; /* disarms the timer */

        if (until_us != DN__NEVER)
                until.it_value = dn__clock_timespec(until_us ? until_us : 1);
        (void)timerfd_settime(watch_fd->timer_fd, TFD_TIMER_ABSTIME, &until, NULL);
}
