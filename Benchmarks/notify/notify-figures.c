/* What the functions of <notify.h> cost, in time, system calls and messages.
 *
 * Prints a table. The exit status is 1 if a count is not what it has to be; no time is wrong. */
#include <darwinnotify/darwinnotify.h>
#include <darwinnotify/token.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <notify_private.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "test-bus.h"
#include "test.h"

#define N_CALLS 30000000
#define N_SYSCALL_CALLS 1000000
#define N_ROUNDS 15
#define N_REGISTRATIONS 50000
#define N_CYCLES 100000
#define N_ROUND_TRIPS 2000
#define N_CONCURRENT 100000
#define N_THREADS 8
#define N_FLOOD 1000000
#define NAME "com.example.figures"

static bool is_wrong;

static void print_figure(const char *what, double value, const char *unit)
{
        printf("%-62s %14.2f %s\n", what, value, unit);
}

static void print_count(const char *what, uint64_t seen, uint64_t expected)
{
        printf("%-62s %14llu %s\n", what, (unsigned long long)seen,
               seen == expected ? "ok" : "WRONG");
        is_wrong |= seen != expected;
}

static void need(uint32_t status, const char *what)
{
        if (status == NOTIFY_STATUS_OK)
                return;
        fprintf(stderr, "%s: status %u\n", what, status);
        exit(1);
}

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t get_statistic(int statistic)
{
        uint64_t value = 0;

        (void)dn_center_get_statistic(dn_center_darwin(), statistic, &value);
        return value;
}

static _Atomic uint64_t n_delivered;

static void count_delivery(int token, void *context)
{
        (void)token;
        (void)context;
        n_delivered++;
}

static int add_callback(void)
{
        dn_token_handler handler = {.invoke = count_delivery};
        int token;

        need(dn_notify_register_callback(NAME, handler, NULL, &token), "callback");
        return token;
}

static int add_check(void)
{
        int token;

        need(notify_register_check(NAME, &token), "register");
        return token;
}

/* Returns 1 if one more post is delivered in time. */
static uint64_t later_post_is_delivered(void)
{
        uint64_t n_before, deadline_us = test_deadline_us();

        do { /* what was before it is delivered first */
                n_before = n_delivered;
                test_let_pass_ms(100);
        } while (n_delivered != n_before && test_now_us() < deadline_us);
        need(notify_post(NAME), "post");
        while (n_delivered == n_before && test_now_us() < deadline_us)
                test_breathe();
        return n_delivered == n_before + 1;
}

/* ---- the calls that touch memory alone ------------------------------------------------------- */

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

typedef struct subject {
        const char *name;
        uint32_t (*volatile call)(int token);
        double ns[N_ROUNDS];
        double ratios[N_ROUNDS];
} subject;

static subject subjects[] = {{.name = "an empty call of the library", .call = call_nothing},
                             {.name = "notify_check", .call = call_check},
                             {.name = "notify_get_state", .call = call_get_state},
                             {.name = "notify_set_state", .call = call_set_state}};

#define N_SUBJECTS (sizeof subjects / sizeof *subjects)

static int compare_numbers(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double find_median(double *numbers)
{
        qsort(numbers, N_ROUNDS, sizeof *numbers, compare_numbers);
        return numbers[N_ROUNDS / 2];
}

static double time_calls(const subject *s, int token)
{
        const unsigned n = N_CALLS / N_ROUNDS;
        uint32_t status = 0;

        uint64_t before_ns = now_ns();
        for (unsigned i = 0; i < n; i++)
                status |= s->call(token);
        double ns = (double)(now_ns() - before_ns) / n;
        need(status, s->name);
        return ns;
}

/* In turns, so that a machine that changes its pace does so for all. */
static void measure_calls(int token)
{
        char what[80];

        for (int round = 0; round < N_ROUNDS; round++) {
                for (size_t i = 0; i < N_SUBJECTS; i++) {
                        subjects[i].ns[round] = time_calls(&subjects[i], token);
                        subjects[i].ratios[round] = subjects[i].ns[round] / subjects[0].ns[round];
                }
        }
        for (size_t i = 0; i < N_SUBJECTS; i++) {
                print_figure(subjects[i].name, find_median(subjects[i].ns), "ns");
                if (i == 0)
                        continue;
                snprintf(what, sizeof what, "%s, in empty calls", subjects[i].name);
                print_figure(what, find_median(subjects[i].ratios), "times");
        }
}

/* ---- their system calls ---------------------------------------------------------------------- */

static volatile sig_atomic_t n_system_calls;

static void count_system_call(int number)
{
        (void)number;
        n_system_calls++;
}

/* From here on each system call of this thread is a signal instead. */
static void trap_system_calls(void)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
                n_system_calls = -1000000; /* not counted: not what is expected */
}

static uint64_t counted[2]; /* during the calls; then, as a proof, with one that is made */

static void *call_under_trap(void *argument)
{
        int token = *(int *)argument;

        trap_system_calls();
        for (int i = 0; i < N_SYSCALL_CALLS; i++)
                for (size_t j = 0; j < N_SUBJECTS; j++)
                        (void)subjects[j].call(token);
        counted[0] = (uint64_t)n_system_calls;
        (void)syscall(SYS_getppid);
        counted[1] = (uint64_t)n_system_calls;
        syscall(SYS_exit, 0); /* the way out of a thread makes others before */
        return NULL;
}

static void count_system_calls(int token)
{
        pthread_t thread;

        (void)signal(SIGSYS, count_system_call);
        if (pthread_create(&thread, NULL, call_under_trap, &token) != 0)
                test_broken("no thread");
        pthread_join(thread, NULL);
        print_count("system calls in a million checks, gets, sets", counted[0], 0);
        print_count("system calls seen when there is one", counted[1], 1);
}

/* ---- the bus --------------------------------------------------------------------------------- */

static void must(int r, const char *what)
{
        if (r < 0)
                test_broken("%s: %s", what, strerror(-r));
}

static sd_bus *open_plain(const test_bus *bus, bool monitors)
{
        sd_bus *plain = NULL;

        must(sd_bus_new(&plain), "plain connection");
        must(sd_bus_set_address(plain, test_bus_address(bus)), "plain connection");
        must(sd_bus_set_bus_client(plain, 1), "plain connection");
        if (monitors)
                must(sd_bus_set_monitor(plain, 1), "plain connection");
        must(sd_bus_start(plain), "plain connection");
        return plain;
}

static void call_bus(sd_bus *plain, const char *member, const char *argument)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = sd_bus_call_method(plain, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                   "org.freedesktop.DBus", member, &error, NULL,
                                   argument ? "s" : "", argument);

        if (r < 0)
                test_broken("%s: %s", member, error.message);
}

static sd_bus *open_monitor(const test_bus *bus)
{
        static const char rule[] = "type='method_call',member='AddMatch'";
        sd_bus *monitor = open_plain(bus, true);
        sd_bus_error error = SD_BUS_ERROR_NULL;

        if (sd_bus_call_method(monitor, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                               "org.freedesktop.DBus.Monitoring", "BecomeMonitor", &error, NULL,
                               "asu", 1, rule, 0) < 0)
                test_broken("BecomeMonitor: %s", error.message);
        return monitor;
}

/* Counts the rules that were asked for, until the one that says the end. */
static uint64_t count_rules(sd_bus *monitor, const char *end)
{
        for (uint64_t n = 0;;) {
                sd_bus_message *m = NULL;
                const char *rule;
                int r = sd_bus_process(monitor, &m);
                must(r, "monitor");
                if (r == 0)
                        must(sd_bus_wait(monitor, UINT64_MAX), "monitor");
                if (!m || sd_bus_message_is_method_call(m, NULL, "AddMatch") <= 0 ||
                    sd_bus_message_read_basic(m, 's', &rule) <= 0) {
                        sd_bus_message_unref(m);
                        continue;
                }
                bool is_end = strcmp(rule, end) == 0;
                sd_bus_message_unref(m);
                if (is_end)
                        return n;
                n++;
        }
}

static void measure_registrations(const test_bus *bus, sd_bus *plain)
{
        static const char end[] = "type='signal',arg0='the end'";
        static int tokens[N_REGISTRATIONS];
        sd_bus *monitor = open_monitor(bus);
        uint64_t before_ns = now_ns();

        for (int i = 0; i < N_REGISTRATIONS; i++)
                tokens[i] = i % 2 ? add_callback() : add_check();
        double ms = (double)(now_ns() - before_ns) / 1e6;
        print_count("names that are known then", get_statistic(DN_STATISTIC_NAMES), 1);
        print_figure("50 000 registrations of one name", ms, "ms");
        call_bus(plain, "AddMatch", end);
        print_count("match rules that were asked for", count_rules(monitor, end), 1);
        before_ns = now_ns();
        for (int i = 0; i < N_REGISTRATIONS; i++)
                need(notify_cancel(tokens[i]), "cancel");
        print_figure("their cancellations", (double)(now_ns() - before_ns) / 1e6, "ms");
        sd_bus_unref(monitor);
}

static void measure_cycle(sd_bus *plain)
{
        uint64_t before_ns = now_ns();

        for (int i = 0; i < N_ROUND_TRIPS; i++)
                call_bus(plain, "GetId", NULL);
        double trip_ns = (double)(now_ns() - before_ns) / N_ROUND_TRIPS;
        before_ns = now_ns();
        for (int i = 0; i < N_CYCLES; i++)
                need(notify_cancel(add_check()), "cancel");
        double check_ns = (double)(now_ns() - before_ns) / N_CYCLES;
        before_ns = now_ns();
        for (int i = 0; i < N_CYCLES; i++)
                need(notify_cancel(add_callback()), "cancel");
        double callback_ns = (double)(now_ns() - before_ns) / N_CYCLES;
        print_figure("a round trip to the bus", trip_ns, "ns");
        print_figure("register and cancel a check, name known", check_ns, "ns");
        print_figure("the same, in round trips", check_ns / trip_ns, "times");
        print_figure("register and cancel a callback, name known", callback_ns, "ns");
        print_figure("the same, in round trips", callback_ns / trip_ns, "times");
}

/* ---- many at a time -------------------------------------------------------------------------- */

static _Atomic uint64_t n_still_valid;

static void *register_and_cancel(void *argument)
{
        (void)argument;
        for (int i = 0; i < N_CONCURRENT / N_THREADS; i++) {
                int token = i % 2 ? add_callback() : add_check();
                need(notify_post(NAME), "post");
                need(notify_cancel(token), "cancel");
                n_still_valid += notify_is_valid_token(token);
        }
        return NULL;
}

static void run_threads(void)
{
        pthread_t threads[N_THREADS];

        for (int i = 0; i < N_THREADS; i++)
                if (pthread_create(&threads[i], NULL, register_and_cancel, NULL) != 0)
                        test_broken("no thread");
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
}

static void measure_concurrency(void)
{
        run_threads(); /* what is allocated once is there afterwards */
        int token = add_callback();
        uint64_t n_observers = get_statistic(DN_STATISTIC_OBSERVERS);
        uint64_t n_bytes = test_resident_bytes();
        unsigned n_fds = test_n_fds();

        uint64_t before_ns = now_ns();
        run_threads();
        print_figure("100 000 registrations, posts, cancellations by 8 threads",
                     (double)(now_ns() - before_ns) / 1e6, "ms");
        print_count("their tokens that are still valid", n_still_valid, 0);
        print_count("descriptors", test_n_fds(), n_fds);
        print_count("observers", get_statistic(DN_STATISTIC_OBSERVERS), n_observers);
        print_figure("growth of the memory",
                     (double)(int64_t)(test_resident_bytes() - n_bytes) / 1024, "KiB");
        print_count("a later post is delivered", later_post_is_delivered(), 1);
        need(notify_cancel(token), "cancel");
}

static void measure_flood(void)
{
        int token = add_callback();
        uint64_t n_connects = get_statistic(DN_STATISTIC_CONNECTS);

        uint64_t before_ns = now_ns();
        for (int i = 0; i < N_FLOOD; i++)
                need(notify_post(NAME), "post");
        print_figure("a post to oneself, of a million", (double)(now_ns() - before_ns) / N_FLOOD,
                     "ns");
        print_count("a later post is delivered", later_post_is_delivered(), 1);
        print_count("connections to the bus", get_statistic(DN_STATISTIC_CONNECTS), n_connects);
        need(notify_cancel(token), "cancel");
}

int main(void)
{
        test_bus *bus = test_bus_begin();
        sd_bus *plain = open_plain(bus, false);

        printf("on dbus-%s\n", test_bus_is_broker(bus) ? "broker" : "daemon");
        measure_registrations(bus, plain);
        int token = add_check();
        measure_calls(token);
        count_system_calls(token);
        measure_cycle(plain);
        measure_concurrency();
        measure_flood();
        sd_bus_unref(plain);
        test_bus_stop(bus);
        return is_wrong;
}
