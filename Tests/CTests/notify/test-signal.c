/* Tokens delivered as a signal. */
#include <time.h>
#include <unistd.h>

#include "notify-tally.h"

#define N "signal"
#define N_POSTS 100

static int tokens[2];
static _Atomic unsigned n_signals, n_first, n_second;

static void ask_both(int number)
{
        int changed = 0;

        if (notify_check(tokens[0], &changed) == NOTIFY_STATUS_OK && changed)
                n_first++;
        if (notify_check(tokens[1], &changed) == NOTIFY_STATUS_OK && changed)
                n_second++;
        n_signals++;
}

static void catch(int number)
{
        struct sigaction action = {.sa_handler = ask_both, .sa_flags = SA_RESTART};

        CHECK_EQ(sigaction(number, &action, NULL), 0);
}

static int add_signal(const char *name, int number)
{
        int token = NOTIFY_TOKEN_INVALID;

        CHECK_EQ(notify_register_signal(name, number, &token), NOTIFY_STATUS_OK);
        return token;
}

/* Another thread's handler may still be running when the count is right. */
static void check_counts(unsigned all, unsigned first, unsigned second)
{
        WAIT_UNTIL_EQ(n_signals, all);
        fence_executor();
        CHECK_EQ(n_signals, all);
        CHECK_EQ(n_first, first);
        CHECK_EQ(n_second, second);
}

static void register_both(const char *first, const char *second)
{
        catch(SIGUSR1);
        tokens[0] = add_signal(first, SIGUSR1);
        tokens[1] = add_signal(second, SIGUSR1);
        CHECK(is_changed(tokens[0]));
        CHECK(is_changed(tokens[1]));
}

TEST(handlerReceivesItsToken)
{
        test_bus_begin();

        register_both("A", "B");
        for (unsigned i = 1; i <= N_POSTS; i++) {
                post("A");
                check_counts(2 * i - 1, i, i - 1);
                post("B");
                check_counts(2 * i, i, i);
        }
}

/* They carry no value and come from the process itself. */
TEST(signalThatAThreadWaitsForArrives)
{
        test_bus_begin();
        struct timespec limit = {TEST_DEADLINE_US / 1000000, 0};
        sigset_t set;
        siginfo_t info;

        sigemptyset(&set);
        sigaddset(&set, SIGRTMIN + 1);
        CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
        add_signal(N, SIGRTMIN + 1);
        for (int i = 0; i < N_POSTS; i++) {
                post(N);
                CHECK_EQ(sigtimedwait(&set, &info, &limit), SIGRTMIN + 1);
                CHECK_EQ(info.si_code, SI_USER);
                CHECK_EQ(info.si_pid, getpid());
        }
}

/* Blocked after the library's threads have started: one that had them unblocked would receive them,
 * which ends the process. */
TEST(libraryThreadsDoNotConsumeSignals)
{
        test_bus_begin();
        struct timespec limit = {TEST_DEADLINE_US / 1000000, 0};
        const int numbers[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGALRM, SIGRTMIN};
        static tally seen = {0};
        sigset_t set;
        int monitor;

        add_callback(N, &seen);
        cancel(add_kind(KIND_DESCRIPTOR, N));
        monitor = add_kind(KIND_CALLBACK, N);
        CHECK_EQ(notify_monitor_file(monitor, (char *)"/", 0), NOTIFY_STATUS_OK);
        post(N);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK(test_n_threads() > 1);
        sigfillset(&set);
        CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
        for (int i = 0; i < N_POSTS; i++)
                for (unsigned j = 0; j < sizeof numbers / sizeof *numbers; j++) {
                        CHECK_EQ(kill(getpid(), numbers[j]), 0);
                        CHECK_EQ(sigtimedwait(&set, NULL, &limit), numbers[j]);
                }
}

TEST_MAIN()
