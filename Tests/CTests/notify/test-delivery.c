/* Each post is delivered once, in order, to all processes. */
#include "notify-tally.h"
#include "roles.h"

#define N "delivery"
#define N_SPACED 1000
#define N_TOKENS 5000
#define N_FLOOD (TEST_HAS_SANITIZER ? 50000 : 200000)

/* Arguments: names. Prints "ready"; answers the index of a name with its calls. */
ROLE(notifyListener)
{
        static tally tallies[8];
        char line[64];

        for (int i = 0; i < n_args; i++)
                add_callback(args[i], &tallies[i]);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin))
                printf("%llu\n", (unsigned long long)tallies[atoi(line)].n_calls);
        return 0;
}

TEST_ON_BUS(eachPostIsDeliveredOnceInEveryProcess)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *children[2];
        test_signal signal;

        test_peer_watch(peer, TEST_WIRE_RULE);
        for (int i = 0; i < 2; i++) {
                children[i] = test_spawn_role("notifyListener", N, "end", NULL);
                CHECK_STREQ(test_child_read_line(children[i]), "ready");
        }
        for (uint64_t i = 1; i <= N_SPACED; i++) {
                post(N);
                for (int j = 0; j < 2; j++)
                        WAIT_UNTIL_EQ(child_calls(children[j], 0), i);
                test_peer_next(peer, &signal); /* one signal each */
                CHECK_STREQ(signal.name, N);
        }
        post("end");
        for (int j = 0; j < 2; j++) {
                WAIT_UNTIL_EQ(child_calls(children[j], 1), 1);
                CHECK_EQ(child_calls(children[j], 0), N_SPACED);
                CHECK_EQ(test_child_wait(children[j]), 0);
        }
}

TEST(registrationIsEffectiveWhenItReturns)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("notifyPoster", N, NULL);

        let_post(poster);
        for (int i = 0; i < 1000; i++) {
                tally seen = {0};
                int token = add_callback(N, &seen);
                let_post(poster);
                WAIT_UNTIL_EQ(seen.n_calls, 1);
                cancel(token);
                WAIT_UNTIL_EQ(seen.n_destroyed, 1);
                CHECK_EQ(seen.n_calls, 1);
        }
        test_child_wait(poster);
}

TEST(registrationDeliversNoEarlierPost)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *poster = test_spawn_role("notifyPoster", N, NULL);
        /* It makes the table count the posts; otherwise signals that are late would count. */
        spawn_observer(N, NULL);

        test_peer_watch(peer, TEST_WIRE_RULE);
        for (int i = 0; i < 20; i++) {
                tally seen = {0};
                post(N);
                let_post(poster);
                int token = add_callback(N, &seen);
                CHECK_EQ(notify_set_state(token, (uint64_t)i), NOTIFY_STATUS_OK);
                CHECK(is_changed(token));
                CHECK_EQ(notify_set_state(token, 7), NOTIFY_STATUS_OK);
                CHECK(!is_changed(token));
                fence_bus(peer);
                CHECK_EQ(seen.n_calls, 0);
                cancel(token);
                WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        }
        test_child_wait(poster);
}

/* ---- order ----------------------------------------------------------------------------------- */

static char order[4096];
static _Atomic int n_order;

static void note_order(int token, void *context)
{
        int at = n_order; /* gcc does not treat an atomic index as an index */

        (void)token;
        order[at] = *(const char *)context;
        n_order++;
}

static void add_noting(const char *name, const char *mark)
{
        dn_token_handler handler = {.invoke = note_order, .context = (void *)mark};
        int token;

        CHECK_EQ(dn_notify_register_callback(name, handler, NULL, &token), NOTIFY_STATUS_OK);
}

/* Those of another process that come together, by the table and over the bus, may change places. */
static void check_each(const char *round)
{
        int n_marks = (int)strlen(round);

        WAIT_UNTIL_EQ(n_order, n_marks);
        for (int i = 0; i < n_marks; i++)
                CHECK(memchr(order, round[i], (size_t)n_marks));
        n_order = 0;
}

static void check_order(int n_rounds, const char *round)
{
        int n_marks = (int)strlen(round);

        WAIT_UNTIL_EQ(n_order, n_rounds * n_marks);
        for (int i = 0; i < n_rounds * n_marks; i++)
                CHECK_EQ(order[i], round[i % n_marks]);
        n_order = 0;
}

TEST(postsOfOneProcessKeepTheirOrder)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("notifyPoster", "A", "B", "C", NULL);

        add_noting("C", "c");
        add_noting("A", "a");
        add_noting("B", "b");
        for (int i = 0; i < 100; i++) {
                let_post(poster);
                check_each("abc");
        }
        for (int i = 0; i < 5; i++) {
                post("A");
                post("B");
                post("C");
        }
        check_order(5, "abc");
        test_child_wait(poster);
}

TEST(tokensOfOneNameAreNotifiedInRegistrationOrder)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("notifyPoster", N, NULL);
        static const char marks[] = "0123456789abcdefghijklmnop";

        for (int i = 0; marks[i]; i++)
                add_noting(N, &marks[i]);
        for (int i = 0; i < 20; i++) {
                if (i % 2)
                        post(N);
                else
                        let_post(poster);
                check_order(1, marks);
        }
        test_child_wait(poster);
}

/* --- volume ----------------------------------------------------------------------------------- */

TEST_ON_BUS(manyTokensOfOneNameNeedOneRule)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *poster = test_spawn_role("notifyPoster", N, NULL);
        static tally seen = {0};
        test_signal own;

        test_peer_watch(peer, TEST_WIRE_RULE);
        post("who");
        test_peer_next(peer, &own);
        long n_rules = test_peer_n_rules(peer, own.sender);
        for (int i = 0; i < N_TOKENS; i++) {
                if (i % 2)
                        add_callback(N, &seen);
                else
                        add_check(N);
        }
        let_post(poster);
        WAIT_UNTIL_EQ(seen.n_calls, N_TOKENS / 2);
        test_child_wait(poster);
        if (n_rules < 0)
                SKIP("this bus does not tell how many rules it has");
        CHECK_EQ(test_peer_n_rules(peer, own.sender), n_rules + 1);
}

/* Arguments: name. Posts it without a pause, then confirms it. */
ROLE(flood)
{
        for (int i = 0; i < N_FLOOD; i++)
                post(args[0]);
        CHECK_EQ(dn_flush(30000000), 0);
        printf("done\n");
        return 0;
}

TEST(slowReceiverNeedsNoMemoryAndHearsTheLastPost)
{
        test_bus_begin();
        static tally seen = {.holds = true};

        add_callback(N, &seen);
        post(N);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        uint64_t before = test_resident_bytes();
        test_child *flooder = test_spawn_role("flood", N, NULL);
        for (int i = 0; i < N_FLOOD; i++)
                post(N);
        CHECK_STREQ(test_child_read_line(flooder), "done");
        if (!TEST_HAS_SANITIZER)
                CHECK(test_resident_bytes() < before + 8 * 1024 * 1024);
        seen.holds = false;
        WAIT_UNTIL(seen.n_calls >= 2);
        CHECK_EQ(test_child_wait(flooder), 0);
        uint64_t n_calls = seen.n_calls;
        post(N);
        WAIT_UNTIL(seen.n_calls > n_calls);
}

TEST_MAIN()
