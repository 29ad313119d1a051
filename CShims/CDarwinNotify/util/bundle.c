/* Combines a descriptor and a deadline into one pollable descriptor for the host's event loop. */
#include "util/bundle.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/clock.h"

/* When to try again to wait for a descriptor. */
#define RETRY_US (50 * DN__US_PER_MS)

static int add_to_epoll(int epoll_fd, int fd, uint32_t events)
{
        struct epoll_event event = { .events = events, .data.fd = fd };

        return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_descriptors(dn__bundle *bundle)
{
        bundle->fd = epoll_create1(EPOLL_CLOEXEC);
        bundle->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (bundle->fd >= 0)
                bundle->guard = dn__fork_guard_new(bundle->fd);
        if (bundle->timer_fd >= 0)
                bundle->timer_guard = dn__fork_guard_new(bundle->timer_fd);
        if (bundle->fd < 0 || bundle->timer_fd < 0)
                return -errno;
        return add_to_epoll(bundle->fd, bundle->timer_fd, EPOLLIN);
}

void dn__bundle_deinit(dn__bundle *bundle)
{
        bundle->timer_guard = dn__fork_guard_close(bundle->timer_guard, bundle->timer_fd);
        bundle->guard = dn__fork_guard_close(bundle->guard, bundle->fd);
        bundle->timer_fd = bundle->fd = -1;
}

int dn__bundle_init(dn__bundle *bundle)
{
        int r;

        *bundle = (dn__bundle){ .fd = -1, .timer_fd = -1, .added_fd = -1 };
        r = open_descriptors(bundle);
        if (r < 0)
                dn__bundle_deinit(bundle);
        return r;
}

/* The number may belong to another file by now, which epoll does not know. Returns false if the
 * kernel has no room for it. */
static bool wait_for(dn__bundle *bundle, const struct pollfd *wait)
{
        struct epoll_event event = { .events = (uint32_t)wait->events, .data.fd = wait->fd };

        if (bundle->added_fd >= 0 && bundle->added_fd != wait->fd)
                (void)epoll_ctl(bundle->fd, EPOLL_CTL_DEL, bundle->added_fd, NULL);
        bundle->added_fd = wait->fd;
        return wait->fd < 0 || epoll_ctl(bundle->fd, EPOLL_CTL_MOD, wait->fd, &event) == 0 ||
               add_to_epoll(bundle->fd, wait->fd, event.events) == 0;
}

/* 0 disarms the timer. */
static void set_timer(dn__bundle *bundle, uint64_t until_us)
{
        struct itimerspec until = { 0 };

        if (until_us != DN__NEVER)
                until.it_value = dn__clock_timespec(until_us ? until_us : 1);
        (void)timerfd_settime(bundle->timer_fd, TFD_TIMER_ABSTIME, &until, NULL);
}

void dn__bundle_set(dn__bundle *bundle, const struct pollfd *wait, uint64_t until_us)
{
        uint64_t retry_us = wait_for(bundle, wait) ? DN__NEVER : dn__clock_after_us(RETRY_US);

        if (retry_us < until_us)
                until_us = retry_us;
        set_timer(bundle, until_us);
        /* It may have been rung just before. */
        if (atomic_load(&bundle->is_rung))
                set_timer(bundle, 0);
}

void dn__bundle_ring(dn__bundle *bundle)
{
        atomic_store(&bundle->is_rung, true);
        set_timer(bundle, 0);
}
