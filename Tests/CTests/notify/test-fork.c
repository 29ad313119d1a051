/* A process's tokens do not belong to its forked children. */
#include "piped.h"
#include "roles.h"

#define N_TOKENS 5

static test_bus *bus;
static test_peer *peer;

/* The parent's: a token of each kind, and what its callback received. */
static int tokens[N_TOKENS], fd;
static tally heard;

static void prepare(void)
{
        peer = begin_to_fork(&bus);
        CHECK_EQ(notify_register_check("N", &tokens[0]), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_plain("N", &tokens[1]), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_signal("N", SIGURG, &tokens[2]), NOTIFY_STATUS_OK);
        tokens[3] = add_piped("N", &fd);
        tokens[4] = add_callback("N", &heard);
        for (int i = 0; i < N_TOKENS; i++)
                CHECK(is_changed(tokens[i]));
        CHECK_EQ(notify_set_state(tokens[0], 42), NOTIFY_STATUS_OK);
}

/* The parent hears each post exactly once, through all its tokens, on the same connection. */
static void check_parent(uint64_t n_before)
{
        fence_bus(peer);
        CHECK_EQ(heard.n_calls, n_before);
        post_elsewhere("N", 1, "return");
        WAIT_UNTIL_EQ(heard.n_calls, n_before + 1);
        fence_bus(peer);
        CHECK_EQ(heard.n_calls, n_before + 1);
        for (uint64_t i = 0; i <= n_before; i++)
                CHECK_EQ(read_token(fd), tokens[3]);
        for (int i = 0; i < N_TOKENS; i++)
                CHECK(is_changed(tokens[i]));
        CHECK_EQ(get_state(tokens[0]), 42);
        check_one_connection(peer, getpid());
}

/* Runs a part of a test in a child that exits cleanly. */
static void in_child(void (*run)(void))
{
        pid_t pid = test_fork();

        if (pid == 0) {
                run();
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
}

static void use_own_tokens_then_those_of_parent(void)
{
        tally own = {0};
        int token = add_callback("N", &own), checked = add_check("N"), reused = fd, none = 77;

        for (int i = 0; i < N_TOKENS; i++) {
                check_invalid(tokens[i]);
                CHECK(token != tokens[i] && checked != tokens[i]);
        }
        CHECK_EQ(notify_register_file_descriptor("N", &reused, NOTIFY_REUSE, &none),
                 NOTIFY_STATUS_INVALID_FILE);
        CHECK_EQ(none, 77);
        CHECK(is_changed(checked));
        CHECK_EQ(get_state(token), 42); /* the parent holds it */
        post("N");
        WAIT_UNTIL_EQ(own.n_calls, 1);
        CHECK(is_changed(checked));
        test_peer *own_peer = test_peer_open(test_bus_address(bus));
        check_one_connection(own_peer, getpid());
        test_peer_close(own_peer);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(own.n_destroyed, 1);
}

static void use_in_child_and_grandchild(void)
{
        use_own_tokens_then_those_of_parent();
        in_child(use_own_tokens_then_those_of_parent);
}

TEST(childAndGrandchildHaveTokensAndConnectionsOfTheirOwn)
{
        prepare();
        in_child(use_in_child_and_grandchild);
        WAIT_UNTIL_EQ(heard.n_calls, 2);
        check_parent(2);
}

/* Leaves a child behind that lives as long as this one's input is open. */
ROLE(leaveChildBehind)
{
        char byte;
        int token;

        CHECK_EQ(notify_register_check("left", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_set_state(token, 5), NOTIFY_STATUS_OK);
        if (test_fork() == 0)
                _exit(read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1);
        printf("left\n");
        pause();
        return 0;
}

TEST(childKeepsNothingAliveForADeadParent)
{
        prepare();
        test_child *child = test_child_await(test_spawn_role("leaveChildBehind", NULL), "left");
        CHECK_EQ(get_anew("left"), 5);
        CHECK_EQ(kill(test_child_pid(child), SIGKILL), 0); /* its child lives on */
        WAIT_UNTIL_EQ(get_anew("left"), 0);
        CHECK_EQ(test_child_wait(child), 128 + SIGKILL);
        check_parent(0);
}

TEST_MAIN()
