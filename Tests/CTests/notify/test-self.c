/* Names that begin with "self." stay in the process. */
#include "piped.h"

#define SECRET "self.secret"

static _Atomic unsigned n_signals;

static void count_signal(int number)
{
        n_signals++;
}

/* A token of each kind, and what they received. */
static int tokens[N_KINDS], fd;
static tally called;

static void register_everything(const char *name)
{
        CHECK(signal(SIGUSR1, count_signal) != SIG_ERR);
        tokens[KIND_CHECK] = add_check(name);
        CHECK_EQ(notify_register_plain(name, &tokens[KIND_PLAIN]), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_signal(name, SIGUSR1, &tokens[KIND_SIGNAL]), NOTIFY_STATUS_OK);
        tokens[KIND_DESCRIPTOR] = add_piped(name, &fd);
        tokens[KIND_CALLBACK] = add_callback(name, &called);
}

static void check_everything(bool expected)
{
        for (int kind = 0; kind < N_KINDS; kind++)
                CHECK_EQ(is_changed(tokens[kind]), expected);
}

static void post_and_expect_one_delivery(const char *name)
{
        uint64_t n_calls = called.n_calls, n = n_signals;

        post(name);
        WAIT_UNTIL_EQ(called.n_calls, n_calls + 1);
        WAIT_UNTIL_EQ(n_signals, n + 1);
        CHECK_EQ(read_token(fd), tokens[KIND_DESCRIPTOR]);
}

static void use_everything(const char *name)
{
        register_everything(name);
        check_everything(true);
        check_everything(false);
        CHECK_EQ(get_state(tokens[KIND_SIGNAL]), 0);
        for (int i = 0; i < 3; i++) {
                post_and_expect_one_delivery(name);
                check_everything(true);
                check_everything(false);
        }
        CHECK_EQ(notify_set_state(tokens[KIND_CALLBACK], UINT64_MAX - 1), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(tokens[KIND_PLAIN]), UINT64_MAX - 1);
        for (int kind = 0; kind < N_KINDS; kind++)
                cancel(tokens[kind]);
        post(name);
        fence_executor();
        CHECK(called.n_calls == 3 && n_signals == 3);
}

TEST_NO_BUS(everyKindOfTokenNeedsNoBus)
{
        use_everything(SECRET);
}

TEST_NO_BUS(shortestSelfNameIsValid)
{
        use_everything("self.");
}

TEST_NO_BUS(thereIsNoLengthLimit)
{
        static char name[100000], other[100000];

        memset(name, 'n', sizeof name - 1);
        memcpy(name, "self.", 5);
        memcpy(other, name, sizeof name);
        other[sizeof other - 2] = 'o';
        int token = add_check(other);
        CHECK(is_changed(token));
        use_everything(name);
        CHECK(!is_changed(token)); /* it differs only in the last byte */
}

TEST_ON_BUS(postsDoNotReachTheBus)
{
        test_peer *peer = test_peer_begin();

        use_everything(SECRET);
        post("fence");
        test_peer_expect(peer, "fence");
}

/* Registers for SECRET and "fence"; prints "ready", then for each line what it knows of SECRET:
 * calls, the check, the state. Exits only after "fence" has arrived. */
ROLE(listenToSecret)
{
        static tally fence;
        char line[16];

        register_everything(SECRET);
        check_everything(true);
        (void)add_callback("fence", &fence);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                WAIT_UNTIL_EQ(fence.n_calls, 1);
                fence_executor();
                printf("%llu %d %llu\n", (unsigned long long)called.n_calls + n_signals,
                       is_changed(tokens[KIND_CHECK]),
                       (unsigned long long)get_state(tokens[KIND_CHECK]));
        }
        return 0;
}

TEST(otherProcessesReceiveNothing)
{
        test_bus_begin();
        test_child *child = test_child_await(test_spawn_role("listenToSecret", NULL), "ready");
        register_everything(SECRET);
        CHECK_EQ(notify_set_state(tokens[KIND_PLAIN], 7), NOTIFY_STATUS_OK);
        post_and_expect_one_delivery(SECRET);
        post("fence");
        CHECK_STREQ(test_child_ask(child, "report"), "0 0 0");
        CHECK_EQ(test_child_wait(child), 0);
}

TEST_MAIN()
