/* What the programs have in common that time requests: a service in a process of its own, and the
 * figures. Also for C++. */
#ifndef BENCH_CALL_FIGURES_H
#define BENCH_CALL_FIGURES_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define N_CALLS 1000

static unsigned n_calls = N_CALLS;

static inline double now_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline void must(int r, const char *what)
{
        if (r >= 0)
                return;
        fprintf(stderr, "%s: %s\n", what, strerror(-r));
        exit(1);
}

static inline void start(void (*serve)(int))
{
        int ready[2];
        char byte;

        must(pipe(ready) < 0 ? -errno : 0, "pipe");
        fflush(NULL);
        if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                serve(ready[1]);
        }
        /* A service that ends is noticed. */
        close(ready[1]);
        must(read(ready[0], &byte, 1) == 1 ? 0 : -EIO, "service");
}

static inline int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static inline double median(double *values, unsigned n)
{
        qsort(values, n, sizeof(*values), compare);
        return values[n / 2];
}

/* The median time of one call, in microseconds. */
static inline double time_one(void (*one)(void))
{
        static double times[N_CALLS];

        for (unsigned i = 0; i < n_calls / 5; i++)
                one();
        for (unsigned i = 0; i < n_calls; i++) {
                double begin = now_us();

                one();
                times[i] = now_us() - begin;
        }
        return median(times, n_calls);
}

/* Calls a second. */
static inline double time_many(void (*many)(void))
{
        double begin;

        many();
        begin = now_us();
        many();
        return n_calls / (now_us() - begin) * 1e6;
}

static inline void print(const char *figure, const char *contender, double value)
{
        printf("{\"figure\": \"%s\", \"contender\": \"%s\", \"value\": %.2f}\n",
               figure, contender, value);
}

/* Prints both figures of a contender: one call after the other, and all at once. */
static inline void print_figures(const char *contender, void (*one)(void), void (*many)(void))
{
        print("request", contender, time_one(one));
        print("requests_flood", contender, time_many(many));
}

/* Reads the command line: smoke|quick|full. */
static inline void read_mode(int argc, char **argv)
{
        if (argc > 1 && strcmp(argv[1], "smoke") == 0)
                n_calls = 10;
}

#endif
