/* Times the functions of <notify.h>, in ns per call: prints lines of JSON, see ../README.md. */
#include <darwinnotify/darwinnotify.h>
#include <darwinnotify/token.h>
#include <notify.h>
#include <notify_private.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define N_THREADS 8
#define N_PARTS 10 /* of the calls that take turns */
#define NAME "org.example.bench"

/* How often each is called; with the argument "smoke", a thousandth of that. */
static struct {
        int calls, round_trips, cycles, registrations, concurrent, flood;
} count = {2000000, 2000, 20000, 50000, 100000, 1000000};

static void fail(const char *what)
{
        fprintf(stderr, "%s\n", what);
        exit(1);
}

static void need(uint32_t status, const char *what)
{
        if (status != NOTIFY_STATUS_OK)
                fail(what);
}

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void print_value(const char *figure, const char *what, double value)
{
        printf("{\"figure\": \"%s\", \"contender\": \"%s\", \"value\": %.3f}\n", figure, what,
               value);
}

static void print_ns(const char *what, uint64_t before_ns, int n)
{
        print_value("calls", what, (double)(now_ns() - before_ns) / n);
}

static void ignore(int token, void *context)
{
        (void)token, (void)context;
}

static int add_callback(void)
{
        int token;

        need(dn_notify_register_callback(NAME, &(dn_token_handler){.invoke = ignore}, NULL, &token),
             "register a callback");
        return token;
}

static int add_check(void)
{
        int token;

        need(notify_register_check(NAME, &token), "register a check");
        return token;
}

/* ---- calls that touch memory alone ----------------------------------------------------------- */

/* A function of the library that does nothing. All are called from here in the same way. */
__attribute__((noinline)) static uint32_t call_nothing(int token)
{
        return notify_get_event(token, NULL, NULL, NULL);
}

__attribute__((noinline)) static uint32_t call_check(int token)
{
        int changed;

        return notify_check(token, &changed);
}

__attribute__((noinline)) static uint32_t call_get_state(int token)
{
        uint64_t state;

        return notify_get_state(token, &state);
}

__attribute__((noinline)) static uint32_t call_set_state(int token)
{
        return notify_set_state(token, 42);
}

static void measure_calls(void)
{
        static struct {
                const char *name;
                uint32_t (*volatile call)(int token);
                uint64_t ns;
        } subjects[] = {{.name = "an empty call", .call = call_nothing},
                        {.name = "notify_check", .call = call_check},
                        {.name = "notify_get_state", .call = call_get_state},
                        {.name = "notify_set_state", .call = call_set_state}};
        const size_t n_subjects = sizeof subjects / sizeof *subjects;
        int token = add_check(), n_each = count.calls / N_PARTS;

        for (size_t turn = 0; turn < N_PARTS * n_subjects; turn++) {
                size_t i = turn % n_subjects;
                uint32_t status = 0;
                uint64_t before_ns = now_ns();
                for (int j = 0; j < n_each; j++)
                        status |= subjects[i].call(token);
                subjects[i].ns += now_ns() - before_ns;
                need(status, subjects[i].name);
        }
        for (size_t i = 0; i < n_subjects; i++)
                print_value("calls", subjects[i].name,
                            (double)subjects[i].ns / (n_each * N_PARTS));
}

/* ---- calls that may need the bus ------------------------------------------------------------- */

static void measure_round_trips(void)
{
        sd_bus *bus = NULL;

        if (sd_bus_open_user(&bus) < 0)
                fail("no bus");
        uint64_t before_ns = now_ns();
        for (int i = 0; i < count.round_trips; i++)
                if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                       "org.freedesktop.DBus", "GetId", NULL, NULL, NULL) < 0)
                        fail("GetId");
        print_ns("a round trip to the bus", before_ns, count.round_trips);
        sd_bus_flush_close_unref(bus);
}

static void measure_registrations(void)
{
        int *tokens = malloc((size_t)count.registrations * sizeof *tokens);
        uint64_t before_ns = now_ns();

        for (int i = 0; i < count.registrations; i++)
                tokens[i] = i % 2 ? add_callback() : add_check();
        print_ns("one of 50,000 registrations of a name", before_ns, count.registrations);
        before_ns = now_ns();
        for (int i = 0; i < count.registrations; i++)
                need(notify_cancel(tokens[i]), "cancel");
        print_ns("its cancellation", before_ns, count.registrations);
        free(tokens);
}

static void measure_cycle(const char *what, int (*add)(void))
{
        uint64_t before_ns = now_ns();

        for (int i = 0; i < count.cycles; i++)
                need(notify_cancel(add()), "cancel");
        print_ns(what, before_ns, count.cycles);
}

static void measure_flood(void)
{
        uint64_t before_ns = now_ns();

        for (int i = 0; i < count.flood; i++)
                need(notify_post(NAME), "post");
        print_ns("one of a million posts to oneself", before_ns, count.flood);
}

/* ---- many threads ---------------------------------------------------------------------------- */

static void *register_and_cancel(void *argument)
{
        for (int i = 0; i < count.concurrent / N_THREADS; i++) {
                int token = i % 2 ? add_callback() : add_check();
                need(notify_post(NAME), "post");
                need(notify_cancel(token), "cancel");
        }
        return argument;
}

static void run_threads(void)
{
        pthread_t threads[N_THREADS];

        for (int i = 0; i < N_THREADS; i++)
                if (pthread_create(&threads[i], NULL, register_and_cancel, NULL) != 0)
                        fail("no thread");
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
}

static double resident_kib(void)
{
        unsigned long n_all, n_pages = 0;
        FILE *f = fopen("/proc/self/statm", "re");

        if (!f || fscanf(f, "%lu %lu", &n_all, &n_pages) != 2)
                fail("/proc/self/statm");
        fclose(f);
        return (double)n_pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void measure_threads(void)
{
        const char *what = "register, post, cancel on 8 threads";

        run_threads(); /* what is allocated once is there afterwards */
        double before_kib = resident_kib();
        uint64_t before_ns = now_ns();
        run_threads();
        print_ns(what, before_ns, count.concurrent);
        print_value("calls_growth", what, resident_kib() - before_kib);
}

int main(int argc, char **argv)
{
        if (argc > 1 && strcmp(argv[1], "smoke") == 0) {
                int *counts = (int *)&count;
                for (size_t i = 0; i < sizeof count / sizeof *counts; i++)
                        counts[i] = counts[i] / 1000 < N_PARTS ? N_PARTS : counts[i] / 1000;
        }
        measure_calls();
        measure_round_trips();
        measure_registrations();
        int token = add_callback(); /* from here on the name is known */
        measure_cycle("register and cancel a check", add_check);
        measure_cycle("register and cancel a callback", add_callback);
        measure_threads();
        measure_flood();
        need(notify_cancel(token), "cancel");
        return 0;
}
