/* Posting to a bus that does not read: how fast, at what cost in memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "board.h"
#include "commands.h"

#define MEMORY_LIMIT (UINT64_C(1) << 30)
#define BLOCKED_NS UINT64_C(20000000000) /* a busy machine may stop a thread for seconds */

static struct {
        _Atomic uint64_t n_posts, posting_since_ns;
        uint64_t start_ns, start_bytes, duration_ns;
} stall;

static uint64_t resident_bytes(void)
{
        unsigned long n_all, n_pages = 0;
        FILE *f = fopen("/proc/self/statm", "re");

        if (!f || fscanf(f, "%lu %lu", &n_all, &n_pages) != 2)
                bench_fail("/proc/self/statm");
        fclose(f);
        return n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void report_stall(const char *outcome, uint64_t ns)
{
        printf("%llu %llu %llu %llu %s\n", (unsigned long long)stall.n_posts,
               (unsigned long long)ns, (unsigned long long)stall.start_bytes,
               (unsigned long long)resident_bytes(), outcome);
        bench_end();
}

/* A post may never return; this thread then reports that. */
static void *end_stall(void *nothing)
{
        bench_rest(stall.duration_ns / 1000 + BLOCKED_NS / 1000);
        uint64_t ns = stall.posting_since_ns - stall.start_ns;
        if (bench_now_ns() - stall.posting_since_ns >= BLOCKED_NS)
                report_stall("blocked", ns);
        return nothing;
}

int bench_stalled(char **args)
{
        char name[BENCH_NAME_BYTES];
        const char *outcome = "taken";
        pthread_t thread;

        snprintf(name, sizeof name, "%s.n0", args[1]);
        stall.duration_ns = strtoul(args[0], NULL, 10) * UINT64_C(1000000);
        bench_begin();
        stall.start_bytes = resident_bytes();
        stall.start_ns = stall.posting_since_ns = bench_now_ns();
        if (pthread_create(&thread, NULL, end_stall, NULL) != 0)
                bench_fail("no thread");
        while (stall.posting_since_ns - stall.start_ns < stall.duration_ns) {
                if (bench_used->post(name) < 0) {
                        outcome = "refused";
                        break;
                }
                if (++stall.n_posts % 4096 == 0 && resident_bytes() > MEMORY_LIMIT) {
                        outcome = "memory";
                        break;
                }
                stall.posting_since_ns = bench_now_ns();
        }
        report_stall(outcome, bench_now_ns() - stall.start_ns);
        return 0;
}
