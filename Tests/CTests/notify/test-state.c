/* The 64-bit state of a name. */

#include "notify-tally.h"
#include "roles.h"

#define N_WRITERS 4
#define ODD_STATE UINT64_C(0xdeadbeef00000001)

static const char *const kinds[N_KINDS] = {"check", "plain", "signal", "descriptor", "callback"};

static void set(int token, uint64_t state)
{
        CHECK_EQ(notify_set_state(token, state), NOTIFY_STATUS_OK);
}

/* Arguments: number of a kind, name. Prints "ready"; answers "set X", "get", "cancel", "leave". */
ROLE(hold)
{
        int token = add_kind(atoi(args[0]), args[1]);
        char line[64];

        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                unsigned long long state = 0;
                if (sscanf(line, "set %llu", &state) == 1)
                        set(token, state);
                else if (strcmp(line, "get\n") == 0)
                        state = get_state(token);
                else if (strcmp(line, "cancel\n") == 0)
                        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
                else
                        break;
                printf("%llu\n", state);
        }
        return 0;
}

static test_child *spawn_holder(int kind, const char *name)
{
        return test_child_await(test_spawn_role("hold", FORMAT("%d", kind), name, NULL), "ready");
}

static void child_set(test_child *child, uint64_t state)
{
        const char *line = FORMAT("set %llu", (unsigned long long)state);

        CHECK_EQ(strtoull(test_child_ask(child, line), NULL, 10), state);
}

static uint64_t child_get(test_child *child)
{
        return strtoull(test_child_ask(child, "get"), NULL, 10);
}

TEST(lateTokenReadsAllBits)
{
        static const uint64_t states[] = {ODD_STATE, UINT64_MAX, 1, UINT64_C(1) << 63,
                                          UINT64_C(1) << 32, 0};
        test_bus_begin();
        test_child *child = spawn_holder(0, "N");

        for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
                child_set(child, states[i]);
                CHECK_EQ(get_anew("N"), states[i]);
        }
        child_set(child, ODD_STATE);
        test_child *late = spawn_holder(1, "N");
        CHECK_EQ(child_get(late), ODD_STATE);
}

/* What a token receives, compared with the state at that moment. */
typedef struct reader {
        _Atomic uint64_t n_calls;
        _Atomic uint64_t n_stale; /* calls that came before their state */
        _Atomic uint64_t last;
} reader;

static void compare_state(int token, void *context)
{
        reader *self = context;
        uint64_t n = self->n_calls + 1, state = get_state(token);

        self->n_stale += state < n || state < self->last;
        self->last = state;
        self->n_calls = n;
}

static int read_with(reader *self, const char *name)
{
        dn_token_handler handler = {.invoke = compare_state, .context = self};
        int token = NOTIFY_TOKEN_INVALID;

        CHECK_EQ(dn_notify_register_callback(name, &handler, NULL, &token), NOTIFY_STATUS_OK);
        return token;
}

/* Arguments: name, rounds. Each input line is one round; without input, all run at once. */
ROLE(write)
{
        int token = add_check(args[0]);
        unsigned long n = strtoul(args[1], NULL, 10);
        char line[8];

        for (unsigned long i = 1; i <= n; i++) {
                if (n_args > 2 && !fgets(line, sizeof line, stdin))
                        return 1;
                set(token, i);
                CHECK_EQ(notify_post(args[0]), NOTIFY_STATUS_OK);
        }
        return 0;
}

TEST(stateIsNeverOlderThanItsPost)
{
        static const char *const names[N_WRITERS] = {"one", "two", "three", "four"};
        test_bus_begin();
        static reader seen[N_WRITERS] = {0};
        test_child *children[N_WRITERS];
        int tokens[N_WRITERS];

        for (int i = 0; i < N_WRITERS; i++)
                tokens[i] = read_with(&seen[i], names[i]);
        for (int i = 0; i < N_WRITERS; i++)
                children[i] = test_spawn_role("write", names[i], "20000", NULL);
        for (int i = 0; i < N_WRITERS; i++)
                CHECK_EQ(test_child_wait(children[i]), 0);
        for (int i = 0; i < N_WRITERS; i++) {
                WAIT_UNTIL_EQ(seen[i].last, 20000);
                CHECK_EQ(get_state(tokens[i]), 20000);
                CHECK_EQ(seen[i].n_stale, 0);
        }
}

/* The ways a registration ends: each returns the process if it lives on. The state must be gone
 * immediately afterwards. */
static test_child *end_by_cancel(test_child *child)
{
        test_child_ask(child, "cancel");
        return child;
}

static test_child *end_by_kill(test_child *child)
{
        return test_child_kill(child);
}

static void check_that_state_ends(test_child *(*end)(test_child *child))
{
        test_bus_begin();

        for (int i = 0; i < N_KINDS; i++) {
                const char *name = FORMAT("of.%s", kinds[i]);
                test_child *child = spawn_holder(i, name);
                child_set(child, ODD_STATE);
                CHECK_EQ(get_anew(name), ODD_STATE); /* cancelling another one leaves it alone */
                CHECK_EQ(get_anew(name), ODD_STATE);
                child = end(child);
                CHECK_EQ(get_anew(name), 0);
                test_child_kill(child);
        }
}

TEST(stateEndsWhenTheLastTokenIsCancelled)
{
        check_that_state_ends(end_by_cancel);
}

TEST(stateEndsWhenTheLastProcessIsKilled)
{
        check_that_state_ends(end_by_kill);
}

TEST(stateStaysWhileAnyProcessHoldsTheName)
{
        test_bus_begin();

        for (int i = 0; i < N_KINDS; i++) {
                const char *name = FORMAT("of.%s", kinds[i]);
                test_child *holder = spawn_holder(i, name), *setter = spawn_holder(0, name);
                child_set(setter, ODD_STATE);
                CHECK_EQ(test_child_wait(setter), 0);
                CHECK_EQ(get_anew(name), ODD_STATE);
                test_child *next = spawn_holder(1, name);
                test_child_kill(holder);
                CHECK_EQ(child_get(next), ODD_STATE);
                test_child_kill(next);
                CHECK_EQ(get_anew(name), 0);
        }
}

TEST(observersOfOtherProcessesHoldTheState)
{
        test_bus_begin();
        test_child *observer = spawn_observer("N", NULL);
        int token = add_check("N");

        set(token, ODD_STATE);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(get_anew("N"), ODD_STATE);
        test_child *child = spawn_holder(0, "N");
        CHECK_EQ(child_get(child), ODD_STATE);
        test_child_kill(child);
        test_child_kill(observer);
        CHECK_EQ(get_anew("N"), 0);
}

TEST(settingDeliversNothing)
{
        test_peer *peer = test_peer_begin();
        test_child *child = spawn_holder(0, "N");
        static reader seen = {0};
        int checked = add_check("N"), called = read_with(&seen, "N");

        CHECK(is_changed(checked));
        CHECK(is_changed(called));
        for (uint64_t i = 1; i <= 100; i++) {
                set(called, i);
                child_set(child, i);
                CHECK(!is_changed(checked));
                CHECK(!is_changed(called));
        }
        fence_bus(peer);
        CHECK(!is_changed(checked));
        CHECK(!is_changed(called));
        CHECK_EQ(seen.n_calls, 0);
        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK); /* both would have noticed */
        CHECK(is_changed(checked));
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

TEST_MAIN()
