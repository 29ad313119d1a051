/* The clock, which only the preloaded one can set without disturbing the machine. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>

#include "stage.h"

static void write_text(const char *path, const char *text, int flags)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
}

TEST(aStepIsHeardAndASleepIsNot)
{
        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer must be loaded first");
        stage stage = stage_begin();
        const char *step = FORMAT("%s/step", test_directory());
        const char *set = FORMAT("%s/set", test_directory());
        write_text(step, "0", O_CREAT);
        CHECK_EQ(mkfifo(set, 0600), 0);
        setenv("DN_TEST_CLOCK_STEP", step, 1);
        setenv("DN_TEST_CLOCK_SET", set, 1);
        const char *command = FORMAT("LD_PRELOAD=%s exec %s 2>&1", TEST_CLOCK, TEST_AGENT);
        test_spawn_program((const char *[]){"sh", "-c", command, NULL});
        stage_await_readiness(&stage);
        int clock = stage_hear(&stage, "com.apple.system.clock_set");

        write_text(step, "3600000000000", O_TRUNC);
        write_text(set, "12345678", O_NONBLOCK);
        stage_expect(&stage, clock);
        /* The timer is cancelled, and the clock goes as before. */
        write_text(set, "12345678", O_NONBLOCK);
        stage_expect_nothing(&stage);
        write_text(step, "-5000000", O_TRUNC);
        write_text(set, "12345678", O_NONBLOCK);
        stage_expect(&stage, clock);
}

/* What the preloaded clock stands in for: the kernel's cancels the timer, whatever is set, and arms
 * it again. */
TEST_NO_BUS(eachSettingOfTheClockCancelsTheTimer)
{
        struct itimerspec never = {.it_value.tv_sec = INT64_MAX / 2000000000};
        int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
        struct timespec now;
        uint64_t n;

        CHECK_EQ(timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL), 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(clock_gettime(CLOCK_REALTIME, &now), 0);
                SKIP_IF(clock_settime(CLOCK_REALTIME, &now) < 0, "this user may not set the clock");
                CHECK_EQ(read(fd, &n, sizeof n), -1);
                CHECK_EQ(errno, ECANCELED);
                CHECK_EQ(read(fd, &n, sizeof n), -1);
                CHECK_EQ(errno, EAGAIN);
        }
}

TEST_MAIN()
