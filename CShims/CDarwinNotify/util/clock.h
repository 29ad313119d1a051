/* Points in time: microseconds of CLOCK_MONOTONIC, as in sd-bus. */
#pragma once

#include <poll.h>
#include <stdint.h>
#include <time.h>

#define DN__US_PER_SECOND UINT64_C(1000000)
#define DN__US_PER_MS UINT64_C(1000)

/* A time that never comes. sd-bus uses the same value. */
#define DN__NEVER UINT64_MAX

static inline uint64_t dn__clock_read_ns(clockid_t clock)
{
        struct timespec now;

        (void)clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t dn__clock_now_ns(void)
{
        return dn__clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t dn__clock_now_us(void)
{
        return dn__clock_now_ns() / 1000;
}

/* Up to 10 ms late, but cheap. */
static inline uint64_t dn__clock_coarse_ms(void)
{
        return dn__clock_read_ns(CLOCK_MONOTONIC_COARSE) / 1000000;
}

/* Saturates, so an infinite span may be passed. */
static inline uint64_t dn__clock_after_us(uint64_t span_us)
{
        uint64_t now_us = dn__clock_now_us();

        return span_us > DN__NEVER - now_us ? DN__NEVER : now_us + span_us;
}

static inline uint64_t dn__clock_earlier(uint64_t a_us, uint64_t b_us)
{
        return a_us < b_us ? a_us : b_us;
}

static inline struct timespec dn__clock_timespec(uint64_t us)
{
        return (struct timespec){
                .tv_sec = (time_t)(us / DN__US_PER_SECOND),
                .tv_nsec = (long)(us % DN__US_PER_SECOND * 1000),
        };
}

/* A signal handler ends it early. */
static inline void dn__clock_sleep_until(uint64_t until_us)
{
        struct timespec until = dn__clock_timespec(until_us);

        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* As poll(), but with a deadline instead of a timeout. */
static inline int dn__clock_poll(struct pollfd *fds, nfds_t n_fds, uint64_t until_us)
{
        uint64_t now_us = dn__clock_now_us();
        struct timespec span = dn__clock_timespec(until_us > now_us ? until_us - now_us : 0);

        return ppoll(fds, n_fds, until_us == DN__NEVER ? NULL : &span, NULL);
}
