/* A process of the baseline: its clock, its pipes, its end. */
#include "baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "baseline-private.h"

void baseline_fail(const char *what, int error)
{
        fprintf(stderr, "baseline: %s%s%s\n", what, error ? ": " : "",
                error ? strerror(error) : "");
        exit(1);
}

uint64_t baseline_now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t baseline_touch(const void *bytes, size_t n_bytes)
{
        const unsigned char *byte = bytes;
        uint64_t sum = 0, word;
        size_t i = 0;

        for (; i + sizeof word <= n_bytes; i += sizeof word) {
                memcpy(&word, byte + i, sizeof word);
                sum += word;
        }
        for (; i < n_bytes; i++)
                sum += byte[i];
        return sum;
}

void baseline_report(uint64_t number)
{
        char line[32];
        int n = snprintf(line, sizeof line, "%llu\n", (unsigned long long)number);

        if (write(STDOUT_FILENO, line, (size_t)n) != n)
                exit(1);
}

void baseline_await_line(void)
{
        char byte;

        do {
                if (read(STDIN_FILENO, &byte, 1) != 1)
                        exit(0);
        } while (byte != '\n');
}
