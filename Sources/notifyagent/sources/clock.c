/* The clock, when it is set. */
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "sources/sources.h"

/* More than two readings of the clocks can differ by chance. */
#define STEP_NS 1000000

/* A reading that took longer than this is repeated. */
#define READING_NS 100000
#define N_READINGS 20

typedef struct data {
        source_watch watch;
        int64_t offset_ns;
} data;

static data *data_of(source *source)
{
        return (data *)source->data;
}

static int64_t read_ns(clockid_t clock)
{
        struct timespec now = { 0 };

        (void)clock_gettime(clock, &now);
        return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* How far the clock is from the time since the start of the system, which goes on while that
 * sleeps. It changes only when the clock is set: when it is adjusted, both go faster or slower. */
static int64_t read_offset(void)
{
        int64_t before, now, after, offset = 0, shortest = INT64_MAX;

        for (unsigned i = 0; i < N_READINGS && shortest > READING_NS; i++) {
                before = read_ns(CLOCK_BOOTTIME);
                now = read_ns(CLOCK_REALTIME);
                after = read_ns(CLOCK_BOOTTIME);
                if (after - before >= shortest)
                        continue;
                shortest = after - before;
                offset = now - before - shortest / 2;
        }
        return offset;
}

/* The timer of a time that never comes is cancelled when the clock is set, and after a sleep. Linux
 * then arms it again. */
static int arm(int fd)
{
        struct itimerspec never = { .it_value.tv_sec = INT64_MAX / 2000000000 };

        return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0
                       ? -errno
                       : 0;
}

static void look(source *source)
{
        data *data = data_of(source);
        int64_t now = read_offset(), step = now - data->offset_ns;

        if (step > -STEP_NS && step < STEP_NS)
                return;
        data->offset_ns = now;
        source_post(source, EVENT_CHANGED);
}

static int on_cancelled(sd_event_source *event, int fd, uint32_t events, void *context)
{
        uint64_t n;

        (void)event, (void)events;
        (void)!read(fd, &n, sizeof(n));
        look(context);
        return 0;
}

static int start(source *source)
{
        data *data = data_of(source);
        int r, fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);

        if (fd < 0)
                return -errno;
        r = source_watch_start(&data->watch, source, fd, EPOLLIN, on_cancelled);
        if (r >= 0)
                r = arm(fd);
        data->offset_ns = read_offset();
        return r;
}

static void stop(source *source)
{
        source_watch_end(&data_of(source)->watch);
}

const source_kind source_clock = {
        .name = "clock",
        .origin = "the clock of the kernel",
        .names = { { .text = "com.apple.system.clock_set", .events = EVENT_CHANGED } },
        .data_bytes = sizeof(data),
        .start = start,
        .look = look,
        .stop = stop,
};
