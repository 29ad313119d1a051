/* Results of notify_check() in every context. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "notify-tally.h"

#define N "check"
#define N_INTERRUPTED (TEST_HAS_SANITIZER ? 10000 : 100000)
#define N_QUIET_CHECKS 1000000

TEST(eachTokenOfEveryKindSeesAPostOnce)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("testPeer", NULL);
        int tokens[2 * N_KINDS];

        for (int i = 0; i < 2 * N_KINDS; i++)
                tokens[i] = add_kind(i % N_KINDS, N);
        for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 2 * N_KINDS; i++)
                        CHECK(is_changed(tokens[i]));
                for (int i = 0; i < 2 * N_KINDS; i++)
                        CHECK(!is_changed(tokens[i]));
                if (round % 2)
                        post(N);
                else
                        let_post(poster, N);
        }
        test_child_wait(poster);
}

static uint32_t peek(int token)
{
        uint32_t n_posts;

        CHECK_EQ(notify_peek(token, &n_posts), NOTIFY_STATUS_OK);
        return n_posts;
}

TEST(peekDoesNotConsumeTheChange)
{
        test_bus_begin();
        int token = add_check(N);

        CHECK(is_changed(token));
        uint32_t before = peek(token);
        CHECK_EQ(peek(token), before);
        post(N);
        CHECK(peek(token) != before);
        CHECK(is_changed(token));
        CHECK(peek(token) != before);
        CHECK(!is_changed(token));
}

TEST(peekIsForTokensWithoutDelivery)
{
        test_bus_begin();

        for (int kind = 0; kind < N_KINDS; kind++) {
                bool may_peek = kind == KIND_CHECK || kind == KIND_PLAIN;
                uint32_t value = UNTOUCHED;
                int token = add_kind(kind, N);
                CHECK_EQ(notify_peek(token, &value),
                         may_peek ? NOTIFY_STATUS_OK : NOTIFY_STATUS_INVALID_REQUEST);
                CHECK(may_peek || value == UNTOUCHED);
                CHECK_EQ(notify_peek(add_kind(kind, "self.check"), &value), NOTIFY_STATUS_OK);
        }
}

static int interrupted_token;
static _Atomic unsigned n_interruptions;
static _Atomic unsigned n_wrong;

static void check_in_handler(int number)
{
        int changed = -1;

        if (notify_check(interrupted_token, &changed) != NOTIFY_STATUS_OK ||
            !notify_is_valid_token(interrupted_token) || changed < 0)
                n_wrong++;
        n_interruptions++;
}

/* A lock held by the interrupted call would never be released. */
static void check_interrupted(const char *name)
{
        struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
        struct sigaction action = {.sa_handler = check_in_handler, .sa_flags = SA_RESTART};

        interrupted_token = add_check(name);
        n_interruptions = 0;
        CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
        CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
        for (int i = 0; i < N_INTERRUPTED; i++) {
                int changed;
                post(name);
                CHECK_EQ(notify_check(interrupted_token, &changed), NOTIFY_STATUS_OK);
        }
        WAIT_UNTIL(n_interruptions >= 100);
        CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
        CHECK_EQ(n_wrong, 0);
        cancel(interrupted_token);
}

TEST(signalHandlerMayCheckWhileAPostIsInterrupted)
{
        test_bus_begin();
        check_interrupted(N);
        check_interrupted("self.check");
}

/* Ends the process on any other system call of this thread. */
static void allow_to_write_and_end_only(void)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

        CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
                _exit(TEST_STATUS_SKIPPED);
}

ROLE(checkWithoutSystemCalls)
{
        int token = add_check(N), callback = add_kind(KIND_CALLBACK, N);
        int changed, n_changes = 0;
        uint64_t state;
        uint32_t value;

        CHECK(is_changed(token));
        printf("ready\n");
        allow_to_write_and_end_only();
        for (int i = 0; i < N_QUIET_CHECKS || n_changes < 1; i++) {
                if (notify_check(token, &changed) || notify_peek(token, &value) ||
                    notify_set_state(callback, (uint64_t)i) || notify_get_state(token, &state) ||
                    state != (uint64_t)i || !notify_is_valid_token(callback))
                        _exit(1);
                n_changes += changed;
        }
        _exit(n_changes == 1 ? 0 : 2);
}

TEST(checksAndStatesMakeNoSystemCalls)
{
        SKIP_IF(TEST_HAS_SANITIZER, "sanitizers make calls of their own");
        test_bus_begin();
        test_child *child = test_child_await(test_spawn_role("checkWithoutSystemCalls", NULL),
                                             "ready");
        post(N);
        int status = test_child_wait(child);
        SKIP_IF(status == TEST_STATUS_SKIPPED, "system calls cannot be filtered here");
        CHECK_EQ(status, 0);
}

TEST_MAIN()
