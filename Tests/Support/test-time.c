/* Time for the tests. */
#include <stdlib.h>
#include <time.h>

#include "test.h"

uint64_t test_now_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

unsigned test_slowness(void)
{
        const char *text = getenv("DN_TEST_SLOW");
        int factor = text ? atoi(text) : 1;

        return factor > 1 ? (unsigned)factor : 1;
}

uint64_t test_deadline_us(void)
{
        return test_now_us() + TEST_DEADLINE_US;
}

void test_breathe(void)
{
        test_let_pass_ms(1);
}

void test_let_pass_ms(unsigned ms)
{
        struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) != 0)
                ;
}
