/* Ends the process when an expectation fails. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"
#include "test-private.h"

/* Uses _exit(), so that no exit handler of the library under test hangs in the failed state. */
__attribute__((noreturn)) static void leave(int status)
{
        fflush(stdout);
        test_directory_forget();
        _exit(status);
}

void test_fail(const char *file, int line, const char *format, ...)
{
        va_list values;

        flockfile(stderr);
        fprintf(stderr, "%s:%d: ", file, line);
        va_start(values, format);
        vfprintf(stderr, format, values);
        va_end(values);
        fputc('\n', stderr);
        funlockfile(stderr);
        leave(1);
}

void test_skip(const char *reason)
{
        printf("SKIP: %s\n", reason);
        leave(TEST_STATUS_SKIPPED);
}

void test_broken(const char *format, ...)
{
        va_list values;

        fprintf(stderr, "the test harness is broken: ");
        va_start(values, format);
        vfprintf(stderr, format, values);
        va_end(values);
        fputc('\n', stderr);
        abort();
}

const char *test_format(char text[512], const char *format, ...)
{
        va_list values;

        va_start(values, format);
        CHECK(vsnprintf(text, 512, format, values) < 512);
        va_end(values);
        return text;
}

void test_check_equal(const char *file, int line, const char *seen_text, long long seen,
                      const char *expected_text, long long expected)
{
        if (seen != expected)
                test_fail(file, line, "%s is %lld, expected %s = %lld", seen_text, seen,
                          expected_text, expected);
}

void test_check_same_text(const char *file, int line, const char *seen_text, const char *seen,
                          const char *expected_text, const char *expected)
{
        if (!seen || strcmp(seen, expected) != 0)
                test_fail(file, line, "%s is \"%s\", expected %s = \"%s\"", seen_text,
                          seen ? seen : "(null)", expected_text, expected);
}
