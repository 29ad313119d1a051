/* One descriptor for the host's event loop that stands for several, and for a deadline. */
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

/* An epoll or timer of the host, with the number of ours, looks the same. But it is not an epoll
 * that has our pipe, nor in it. */
static bool is_in_epoll(const dn__bundle *bundle, int fd)
{
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

        return epoll_ctl(bundle->fd, EPOLL_CTL_MOD, fd, &event) == 0;
}

static bool has_epoll(const dn__bundle *bundle)
{
        return dn__fork_guard_is_intact(bundle->guard) && bundle->bell.read_fd >= 0 &&
               dn__fork_guard_is_intact(bundle->bell.read_guard) &&
               is_in_epoll(bundle, bundle->bell.read_fd);
}

/* If it has the epoll. */
static bool has_timer(const dn__bundle *bundle)
{
        return dn__fork_guard_is_intact(bundle->timer_guard) &&
               is_in_epoll(bundle, bundle->timer_fd);
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

static dn__fork_guard *close_own(dn__fork_guard *guard, int fd, bool is_own)
{
        return is_own ? dn__fork_guard_close(guard, fd) : dn__fork_guard_free(guard);
}

static void close_descriptors(dn__bundle *bundle, bool has_epoll, bool has_timer)
{
        dn__bell_deinit(&bundle->bell);
        bundle->timer_guard = close_own(bundle->timer_guard, bundle->timer_fd, has_timer);
        bundle->guard = close_own(bundle->guard, bundle->fd, has_epoll);
        bundle->timer_fd = bundle->fd = -1;
}

int dn__bundle_init(dn__bundle *bundle)
{
        int r;

        *bundle = (dn__bundle){ .fd = -1, .timer_fd = -1, .added_fds = { -1, -1, -1 } };
        dn__fork_hold_off();
        r = open_descriptors(bundle);
        dn__fork_let_go();
        if (r < 0)
                close_descriptors(bundle, bundle->fd >= 0, bundle->timer_fd >= 0);
        return r;
}

void dn__bundle_deinit(dn__bundle *bundle)
{
        bool is_ours = has_epoll(bundle);

        close_descriptors(bundle, is_ours, is_ours && has_timer(bundle));
}

bool dn__bundle_is_intact(const dn__bundle *bundle)
{
        return has_epoll(bundle) && has_timer(bundle);
}

static void forget_others(dn__bundle *bundle, const int *added_fd, const struct pollfd *wait)
{
        if (*added_fd >= 0 && *added_fd != wait->fd)
                (void)epoll_ctl(bundle->fd, EPOLL_CTL_DEL, *added_fd, NULL);
}

/* The number may have passed to another file since: that one is not known to epoll. Returns false
 * if the kernel has no room for it. */
static bool wait_for(dn__bundle *bundle, int *added_fd, const struct pollfd *wait)
{
        struct epoll_event event = { .events = (uint32_t)wait->events, .data.fd = wait->fd };

        *added_fd = wait->fd;
        return wait->fd < 0 || epoll_ctl(bundle->fd, EPOLL_CTL_MOD, wait->fd, &event) == 0 ||
               add_to_epoll(bundle->fd, wait->fd, event.events) == 0;
}

void dn__bundle_set(dn__bundle *bundle, const struct pollfd waits[DN__BUNDLE_MAX_FDS],
                    uint64_t until_us)
{
        uint64_t retry_us = DN__NEVER;
        struct itimerspec until = { 0 };

        /* Remove all the old ones first: their numbers may be among the new ones. */
        for (int i = 0; i < DN__BUNDLE_MAX_FDS; i++)
                forget_others(bundle, &bundle->added_fds[i], &waits[i]);
        for (int i = 0; i < DN__BUNDLE_MAX_FDS; i++)
                if (!wait_for(bundle, &bundle->added_fds[i], &waits[i]))
                        retry_us = dn__clock_after_us(RETRY_US);
        if (retry_us < until_us)
                until_us = retry_us;
        /* 0 disarms it. */
        if (until_us != DN__NEVER)
                until.it_value = dn__clock_timespec(until_us ? until_us : 1);
        (void)timerfd_settime(bundle->timer_fd, TFD_TIMER_ABSTIME, &until, NULL);
}

void dn__bundle_ring(dn__bundle *bundle)
{
        dn__bell_ring(&bundle->bell);
}
