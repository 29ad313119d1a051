/* One descriptor for the host's event loop that stands for several, and for a deadline. */
#include "util/bundle.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/clock.h"

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
        if (dn__bell_init(&bundle->bell) < 0 || bundle->fd < 0 || bundle->timer_fd < 0 ||
            add_to_epoll(bundle->fd, bundle->timer_fd, EPOLLIN) < 0 ||
            add_to_epoll(bundle->fd, bundle->bell.read_fd, EPOLLIN) < 0)
                return -ENOMEM;
        return 0;
}

int dn__bundle_init(dn__bundle *bundle)
{
        int r;

        *bundle = (dn__bundle){ .fd = -1, .timer_fd = -1, .added_fds = { -1, -1, -1 } };
        dn__fork_hold_off();
        r = open_descriptors(bundle);
        dn__fork_let_go();
        if (r < 0)
                dn__bundle_deinit(bundle);
        return r;
}

void dn__bundle_deinit(dn__bundle *bundle)
{
        dn__bell_deinit(&bundle->bell);
        if (bundle->timer_fd >= 0)
                bundle->timer_guard = dn__fork_guard_close(bundle->timer_guard, bundle->timer_fd);
        if (bundle->fd >= 0)
                bundle->guard = dn__fork_guard_close(bundle->guard, bundle->fd);
        bundle->timer_fd = bundle->fd = -1;
}

bool dn__bundle_is_intact(const dn__bundle *bundle)
{
        return dn__fork_guard_is_intact(bundle->guard) &&
               dn__fork_guard_is_intact(bundle->timer_guard);
}

static void forget_others(dn__bundle *bundle, const int *added_fd, const struct pollfd *wait)
{
        if (*added_fd >= 0 && *added_fd != wait->fd)
                (void)epoll_ctl(bundle->fd, EPOLL_CTL_DEL, *added_fd, NULL);
}

/* The number may belong to another file by now, which epoll does not know. */
static void wait_for(dn__bundle *bundle, int *added_fd, const struct pollfd *wait)
{
        struct epoll_event event = { .events = (uint32_t)wait->events, .data.fd = wait->fd };

        *added_fd = wait->fd;
        if (wait->fd >= 0 && epoll_ctl(bundle->fd, EPOLL_CTL_MOD, wait->fd, &event) < 0)
                (void)add_to_epoll(bundle->fd, wait->fd, event.events);
}

void dn__bundle_set(dn__bundle *bundle, const struct pollfd waits[DN__BUNDLE_MAX_FDS],
                    uint64_t until_us)
{
        /* 0 would disarm it. */
        struct itimerspec until = { .it_value = dn__clock_timespec(until_us ? until_us : 1) };
        const struct itimerspec never = { 0 };

        /* Remove all the old ones first: their numbers may be among the new ones. */
        for (int i = 0; i < DN__BUNDLE_MAX_FDS; i++)
                forget_others(bundle, &bundle->added_fds[i], &waits[i]);
        for (int i = 0; i < DN__BUNDLE_MAX_FDS; i++)
                wait_for(bundle, &bundle->added_fds[i], &waits[i]);
        (void)timerfd_settime(bundle->timer_fd, TFD_TIMER_ABSTIME,
                              until_us == DN__NEVER ? &never : &until, NULL);
}

void dn__bundle_ring(dn__bundle *bundle)
{
        dn__bell_ring(&bundle->bell);
}
