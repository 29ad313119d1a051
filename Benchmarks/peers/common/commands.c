/* What a contender does for each command, whatever it posts with. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "board.h"
#include "commands.h"

#define CONNECT_EVERY_US 100000
#define N_WARM_UP 3 /* round trips that are not counted */
#define GIVE_UP_S 60

const bench_peer *bench_used;

static sem_t heard_one; /* when threads of the peer call back */
static uint64_t n_heard;

void bench_fail(const char *what)
{
        fprintf(stderr, "%s\n", what);
        _exit(1);
}

void bench_need(int r, const char *what)
{
        if (r < 0)
                bench_fail(what);
}

void bench_rest(uint64_t us)
{
        struct timespec time = {.tv_sec = (time_t)(us / 1000000),
                                .tv_nsec = (long)(us % 1000000 * 1000)};

        nanosleep(&time, NULL);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void *wait_for_end(void *nothing)
{
        char c;

        while (read(STDIN_FILENO, &c, 1) > 0)
                continue;
        _exit(0); /* whatever the peer's threads do */
        return nothing;
}

/* From here on the process ends with its standard input. */
static void watch_input(void)
{
        pthread_t thread;

        if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
                bench_fail("no thread");
}

static void say(const char *what)
{
        puts(what);
        fflush(stdout);
}

void bench_begin(void)
{
        char c = 0;

        say("ready");
        while (c != '\n')
                if (read(STDIN_FILENO, &c, 1) <= 0)
                        _exit(0);
        watch_input();
}

int bench_end(void)
{
        say("done");
        for (;;)
                pause();
}

static void settle(void)
{
        if (bench_used->settle)
                bench_need(bench_used->settle(), "settle");
}

static void prepare(const char *name)
{
        if (bench_used->prepare)
                bench_need(bench_used->prepare(name), "prepare");
}

/* A bus may take longer than one call waits for it. */
static int connect_in_time(void)
{
        uint64_t deadline_ns = bench_now_ns() + GIVE_UP_S * UINT64_C(1000000000);
        int r;

        while ((r = bench_used->connect()) < 0 && bench_now_ns() < deadline_ns)
                bench_rest(CONNECT_EVERY_US);
        return r;
}

static void process_forever(void)
{
        for (;;) {
                if (!bench_used->process)
                        pause();
                else
                        bench_need(bench_used->process(10000), "process");
        }
}

/* ---- receivers ------------------------------------------------------------------------------- */

static void note(void *context, uint64_t n_posts)
{
        board_note(context, n_posts);
}

static int receive(char **args)
{
        static board_writer self;
        size_t slot = strtoul(args[1], NULL, 10);
        unsigned long n_names = strtoul(args[2], NULL, 10);
        char name[BENCH_NAME_BYTES];

        self.slot = board_map(args[0], slot + 1) + slot;
        self.n_observers = strtoul(args[3], NULL, 10);
        for (unsigned long i = 0; i < n_names; i++) {
                snprintf(name, sizeof name, "%s.n%lu", args[4], i);
                for (uint64_t j = 0; j < self.n_observers; j++)
                        bench_need(bench_used->observe(name, note, &self), "observe");
        }
        settle();
        say("ready");
        watch_input();
        process_forever();
        return 0;
}

static char ping[BENCH_NAME_BYTES], pong[BENCH_NAME_BYTES];

static void answer(void *context, uint64_t n_posts)
{
        (void)context, (void)n_posts;
        bench_need(bench_used->post(pong), "post");
}

static int echo(char **args)
{
        snprintf(ping, sizeof ping, "%s.ping", args[0]);
        snprintf(pong, sizeof pong, "%s.pong", args[0]);
        bench_need(bench_used->observe(ping, answer, NULL), "observe");
        settle();
        say("ready");
        watch_input();
        process_forever();
        return 0;
}

/* ---- posters --------------------------------------------------------------------------------- */

typedef struct timing {
        uint64_t heard_ns, returned_ns, cpu_ns; /* the last: of the thread that posts */
} timing;

static timing time_post(const char *name, board_slot *slots, size_t n_slots, uint64_t n_each)
{
        uint64_t before[n_slots], start_ns, start_cpu_ns;
        timing timing;

        for (size_t i = 0; i < n_slots; i++)
                before[i] = atomic_load(&slots[i].n_posts);
        start_cpu_ns = bench_cpu_ns();
        start_ns = bench_now_ns();
        bench_need(bench_used->post(name), "post");
        timing.returned_ns = bench_now_ns() - start_ns;
        timing.cpu_ns = bench_cpu_ns() - start_cpu_ns;
        timing.heard_ns = board_wait(slots, n_slots, before, n_each);
        if (timing.heard_ns == 0)
                bench_fail("a post was not heard");
        timing.heard_ns -= start_ns;
        return timing;
}

static int latency(char **args)
{
        size_t n_slots = strtoul(args[1], NULL, 10);
        uint64_t n_each = strtoul(args[2], NULL, 10), n_warm_up = strtoul(args[3], NULL, 10);
        uint64_t rest_us = strtoul(args[4], NULL, 10), n_posts = strtoul(args[5], NULL, 10);
        board_slot *slots = board_map(args[0], n_slots);
        char name[BENCH_NAME_BYTES];

        snprintf(name, sizeof name, "%s.n0", args[6]);
        prepare(name);
        bench_begin();
        for (uint64_t n = 0; n < n_warm_up + n_posts; n++) {
                timing timing = time_post(name, slots, n_slots, n_each);

                if (n >= n_warm_up)
                        printf("%llu %llu %llu\n", (unsigned long long)timing.heard_ns,
                               (unsigned long long)timing.returned_ns,
                               (unsigned long long)timing.cpu_ns);
                bench_rest(rest_us);
        }
        return bench_end();
}

static void wake(void *context, uint64_t n_posts)
{
        (void)context;
        n_heard += n_posts;
        if (!bench_used->process)
                sem_post(&heard_one);
}

static void await_pong(uint64_t n_before)
{
        struct timespec deadline;

        if (!bench_used->process) {
                clock_gettime(CLOCK_REALTIME, &deadline);
                deadline.tv_sec += GIVE_UP_S;
                bench_need(sem_timedwait(&heard_one, &deadline), "no answer came");
        }
        uint64_t deadline_ns = bench_now_ns() + GIVE_UP_S * UINT64_C(1000000000);
        while (bench_used->process && n_heard == n_before) {
                bench_need(bench_used->process(GIVE_UP_S * 1000), "process");
                if (bench_now_ns() > deadline_ns)
                        bench_fail("no answer came");
        }
}

static int roundtrip(char **args)
{
        uint64_t n_posts = strtoul(args[0], NULL, 10);

        snprintf(ping, sizeof ping, "%s.ping", args[1]);
        snprintf(pong, sizeof pong, "%s.pong", args[1]);
        bench_need(bench_used->observe(pong, wake, NULL), "observe");
        settle();
        bench_begin();
        for (unsigned n = 0; n < N_WARM_UP + n_posts; n++) {
                uint64_t n_before = n_heard, start_ns = bench_now_ns();
                bench_need(bench_used->post(ping), "post");
                await_pong(n_before);
                uint64_t end_ns = bench_now_ns();
                if (n >= N_WARM_UP)
                        printf("%llu\n", (unsigned long long)(end_ns - start_ns));
        }
        return bench_end();
}

static int flood(char **args)
{
        uint64_t duration_ns = strtoul(args[0], NULL, 10) * UINT64_C(1000000), n = 0, start_ns;
        unsigned long n_names = strtoul(args[1], NULL, 10), pause_us = strtoul(args[2], NULL, 10);
        bool has_each = strcmp(args[3], "1") == 0 && bench_used->pace_each;
        int (*pace)(void) = has_each ? bench_used->pace_each : bench_used->pace;
        uint64_t n_unpaced = has_each ? BENCH_GATHERED : 1;
        char(*names)[BENCH_NAME_BYTES] = malloc(n_names * BENCH_NAME_BYTES);

        for (unsigned long i = 0; i < n_names; i++) {
                snprintf(names[i], BENCH_NAME_BYTES, "%s.n%lu", args[4], i);
                prepare(names[i]);
        }
        bench_begin();
        start_ns = bench_now_ns();
        do {
                bench_need(bench_used->post(names[n++ % n_names]), "post");
                if (pause_us > 0)
                        bench_rest(pause_us);
                else if (pace && n % n_unpaced == 0)
                        bench_need(pace(), "pace");
        } while (bench_now_ns() - start_ns < duration_ns);
        if (bench_used->flush)
                bench_need(bench_used->flush(), "flush");
        printf("%llu %llu %llu\n", (unsigned long long)n, (unsigned long long)start_ns,
               (unsigned long long)bench_now_ns());
        return bench_end();
}

static int first(char **args)
{
        char name[BENCH_NAME_BYTES];
        int r;

        snprintf(name, sizeof name, "%s.n0", args[0]);
        r = bench_used->post(name);
        if (r < 0 && bench_used->connect)
                r = connect_in_time(); /* the post is sent then */
        bench_need(r, "post");
        if (bench_used->flush)
                bench_need(bench_used->flush(), "flush");
        return 0;
}

int bench_main(int argc, char **argv, const bench_peer *peer)
{
        static const struct {
                const char *name;
                int n_args;
                int (*run)(char **args);
        } commands[] = {{"receive", 5, receive}, {"echo", 1, echo},   {"latency", 7, latency},
                        {"roundtrip", 2, roundtrip}, {"flood", 5, flood}, {"first", 1, first},
                        {"stalled", 2, bench_stalled}};

        bench_used = peer;
        sem_init(&heard_one, 0, 0);
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
                if (argc != commands[i].n_args + 2 || strcmp(argv[1], commands[i].name) != 0)
                        continue;
                bench_need(bench_used->open(), "open");
                if (bench_used->connect && commands[i].run != first)
                        bench_need(connect_in_time(), "connect");
                return commands[i].run(argv + 2);
        }
        fprintf(stderr, "usage: see bench.h\n");
        return 2;
}
