/* A clock that a test sets, for a program that it is loaded into before the C library.
 *
 * No namespace has a clock of its own, and a test must not set that of the machine. The step is
 * read from the file DN_TEST_CLOCK_STEP, in nanoseconds. Timers that are cancelled when the clock
 * is set become the queue DN_TEST_CLOCK_SET, which is readable once the test has written to it. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int queue = -1;

static long long read_step(void)
{
        const char *path = getenv("DN_TEST_CLOCK_STEP");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        char text[32] = "";

        if (fd < 0)
                return 0;
        (void)!read(fd, text, sizeof(text) - 1);
        close(fd);
        return atoll(text);
}

#pragma GCC visibility push(default)

int clock_gettime(clockid_t clock, struct timespec *now)
{
        long long ns;

        if (syscall(SYS_clock_gettime, clock, now) < 0)
                return -1;
        if (clock == CLOCK_REALTIME) {
                ns = now->tv_sec * 1000000000ll + now->tv_nsec + read_step();
                *now = (struct timespec){ns / 1000000000, ns % 1000000000};
        }
        return 0;
}

int timerfd_create(int clock, int flags)
{
        const char *path = getenv("DN_TEST_CLOCK_SET");

        if (clock != CLOCK_REALTIME || !path)
                return (int)syscall(SYS_timerfd_create, clock, flags);
        queue = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        return queue;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
        return fd == queue ? 0 : (int)syscall(SYS_timerfd_settime, fd, flags, new, old);
}

#pragma GCC visibility pop
