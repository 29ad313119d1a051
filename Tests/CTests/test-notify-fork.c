/* What the tokens of a process are to its forked children: not theirs. */
#include <arpa/inet.h>
#include <darwinnotify/token.h>
#include <notify.h>
#include <notify_private.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define N_TOKENS 5

static test_bus *bus;
static test_peer *peer;

/* Of the parent: a token of each kind, and what its callback was told. */
static int tokens[N_TOKENS], fd;
static _Atomic uint64_t n_calls;

static void count_call(int token, void *context)
{
        (void)token;
        (*(_Atomic uint64_t *)context)++;
}

static int add_callback(const char *name, _Atomic uint64_t *count)
{
        dn_token_handler handler = {.invoke = count_call, .context = count};
        int token = NOTIFY_TOKEN_INVALID;

        CHECK_EQ(dn_notify_register_callback(name, handler, NULL, &token), NOTIFY_STATUS_OK);
        return token;
}

static bool check(int token)
{
        int changed = -1;

        CHECK_EQ(notify_check(token, &changed), NOTIFY_STATUS_OK);
        return changed;
}

static void post(const char *name)
{
        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
}

static void prepare(void)
{
        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("the thread sanitizer allows no threads in a forked child");
        bus = test_bus_begin();
        peer = test_peer_open(test_bus_address(bus));
        test_peer_watch(peer, TEST_WIRE_RULE);
        CHECK_EQ(notify_register_check("N", &tokens[0]), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_plain("N", &tokens[1]), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_signal("N", SIGURG, &tokens[2]), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_file_descriptor("N", &fd, 0, &tokens[3]), NOTIFY_STATUS_OK);
        tokens[4] = add_callback("N", &n_calls);
        for (int i = 0; i < N_TOKENS; i++)
                CHECK(check(tokens[i]));
        CHECK_EQ(notify_set_state(tokens[0], 42), NOTIFY_STATUS_OK);
}

/* The parent hears each post exactly once, by all its tokens, on the same connection. */
static void check_parent(uint64_t n_before)
{
        uint32_t written;
        uint64_t state = 0;

        fence_bus(peer);
        CHECK_EQ(n_calls, n_before);
        post_elsewhere("N", 1, "return");
        WAIT_UNTIL_EQ(n_calls, n_before + 1);
        fence_bus(peer);
        CHECK_EQ(n_calls, n_before + 1);
        for (uint64_t i = 0; i <= n_before; i++) {
                CHECK_EQ(read(fd, &written, sizeof written), sizeof written);
                CHECK_EQ(ntohl(written), tokens[3]);
        }
        for (int i = 0; i < N_TOKENS; i++)
                CHECK(check(tokens[i]));
        CHECK_EQ(notify_get_state(tokens[0], &state), NOTIFY_STATUS_OK);
        CHECK_EQ(state, 42);
        CHECK_EQ(test_peer_n_connections(peer, getpid()), 1);
        test_bus_stop(bus);
}

/* Runs a part of a test in a child that ends in an orderly way. */
static void in_child(void (*run)(void))
{
        pid_t pid = fork();

        if (pid == 0) {
                run();
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
}

static void post_as_child(void)
{
        post("N");
}

TEST(childPostsAndTheParentHearsItOnce)
{
        prepare();
        in_child(post_as_child);
        WAIT_UNTIL_EQ(n_calls, 1);
        check_parent(1);
}

static void use_tokens_of_parent(void)
{
        char path[] = "/tmp";
        uint64_t state = 77;
        uint32_t value = 77;
        int changed = 77;

        for (int i = 0; i < N_TOKENS; i++) {
                int token = tokens[i];
                CHECK(!notify_is_valid_token(token));
                CHECK_EQ(notify_check(token, &changed), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_peek(token, &value), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_resume(token), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_INVALID_TOKEN);
                CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_INVALID_TOKEN);
        }
        CHECK_EQ(changed, 77);
        CHECK_EQ(value, 77);
        CHECK_EQ(state, 77);
}

TEST(tokensOfTheParentAreInvalidInTheChild)
{
        prepare();
        in_child(use_tokens_of_parent);
        check_parent(0);
}

static void use_own_tokens_then_those_of_parent(void)
{
        static _Atomic uint64_t n_own;
        uint64_t state = 0;
        int token = add_callback("N", &n_own), checked;

        CHECK_EQ(notify_register_check("N", &checked), NOTIFY_STATUS_OK);
        use_tokens_of_parent();
        for (int i = 0; i < N_TOKENS; i++)
                CHECK(token != tokens[i] && checked != tokens[i]);
        CHECK(check(checked));
        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OK);
        CHECK_EQ(state, 42); /* the parent holds it */
        post("N");
        WAIT_UNTIL_EQ(n_own, 1);
        CHECK(check(checked));
        test_peer *own_peer = test_peer_open(test_bus_address(bus));
        CHECK_EQ(test_peer_n_connections(own_peer, getpid()), 1);
        test_peer_close(own_peer);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
}

TEST(childHasTokensAndAConnectionOfItsOwn)
{
        prepare();
        in_child(use_own_tokens_then_those_of_parent);
        WAIT_UNTIL_EQ(n_calls, 1);
        check_parent(1);
}

TEST(childHearsThePostsOfItsParent)
{
        static _Atomic uint64_t n_own;

        prepare();
        pid_t pid = fork();
        if (pid == 0) {
                add_callback("child", &n_own);
                post("N"); /* says that it is ready */
                WAIT_UNTIL_EQ(n_own, 1);
                exit(0);
        }
        WAIT_UNTIL_EQ(n_calls, 1);
        post("child");
        CHECK_EQ(test_wait_for(pid), 0);
        check_parent(1);
}

TEST(reusedDescriptorOfTheParentIsRefused)
{
        prepare();
        pid_t pid = fork();
        if (pid == 0) {
                int token = 77, reused = fd;
                CHECK_EQ(notify_register_file_descriptor("N", &reused, NOTIFY_REUSE, &token),
                         NOTIFY_STATUS_INVALID_FILE);
                CHECK_EQ(token, 77);
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        check_parent(0);
}

static void use_self_names(void)
{
        static _Atomic uint64_t n_own;
        int checked, token = add_callback("self.x", &n_own);

        CHECK_EQ(notify_register_check("self.x", &checked), NOTIFY_STATUS_OK);
        CHECK(check(checked));
        post("self.x");
        CHECK(check(checked));
        WAIT_UNTIL_EQ(n_own, 1);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
}

TEST(namesOfTheProcessWorkInTheChild)
{
        static _Atomic uint64_t n_of_parent;

        prepare();
        add_callback("self.x", &n_of_parent);
        in_child(use_self_names);
        fence_executor();
        CHECK_EQ(n_of_parent, 0);
        check_parent(0);
}

static void do_nothing(void)
{
}

TEST(childThatDoesNothingLeavesTheParentAlone)
{
        prepare();
        for (int i = 0; i < 20; i++)
                in_child(do_nothing);
        check_parent(0);
}

static void use_in_grandchild(void)
{
        static _Atomic uint64_t n_own;

        add_callback("grandchild", &n_own);
        in_child(use_own_tokens_then_those_of_parent);
        post("grandchild");
        WAIT_UNTIL_EQ(n_own, 1);
}

TEST(grandchildrenAreChildrenToo)
{
        prepare();
        in_child(use_in_grandchild);
        WAIT_UNTIL_EQ(n_calls, 1);
        check_parent(1);
}

/* After exec everything is new. */
ROLE(useAll)
{
        _Atomic uint64_t n_own = 0;
        int checked;

        add_callback("E", &n_own);
        CHECK_EQ(notify_register_check("E", &checked), NOTIFY_STATUS_OK);
        CHECK(check(checked));
        post("E");
        CHECK(check(checked));
        WAIT_UNTIL_EQ(n_own, 1);
        post("N");
        return 0;
}

TEST(childThatExecsWorks)
{
        prepare();
        pid_t pid = fork();
        if (pid == 0) {
                post("other"); /* the library has been used in the child before */
                execl("/proc/self/exe", "again", "--role", "useAll", (char *)NULL);
                _exit(1);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        WAIT_UNTIL_EQ(n_calls, 1);
        check_parent(1);
}

/* Leaves a child behind that lives as long as this one's input is open. */
ROLE(leaveChildBehind)
{
        char byte;
        int token;

        CHECK_EQ(notify_register_check("left", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_set_state(token, 5), NOTIFY_STATUS_OK);
        if (fork() == 0)
                _exit(read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1);
        printf("left\n");
        pause();
        return 0;
}

static uint64_t get_state_of_left(void)
{
        uint64_t state = 1;
        int token;

        CHECK_EQ(notify_register_check("left", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        return state;
}

TEST(childHoldsNothingForADeadParent)
{
        prepare();
        test_child *child = test_spawn_role("leaveChildBehind", NULL);
        CHECK_STREQ(test_child_read_line(child), "left");
        CHECK_EQ(get_state_of_left(), 5);
        CHECK_EQ(kill(test_child_pid(child), SIGKILL), 0); /* its child lives on */
        WAIT_UNTIL_EQ(get_state_of_left(), 0);
        CHECK_EQ(test_child_wait(child), 128 + SIGKILL);
        check_parent(0);
}

TEST_MAIN()
