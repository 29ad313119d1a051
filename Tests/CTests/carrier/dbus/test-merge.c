/* Mergeable posts in a flood. */
#include <time.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

/* The number of posts sent immediately, and how long the next one waits. */
#define N_AT_ONCE 8
#define SPAN_MS 1

static test_bus *bus;
static test_peer *peer;

static void begin(void)
{
        bus = test_bus_begin();
        peer = test_peer_open(test_bus_address(bus));
        test_peer_watch(peer, TEST_WIRE_RULE);
        await_bus(dn_center_darwin());
}

static void end(void)
{
        test_peer_close(peer);
        test_bus_stop(bus);
}

static void post_merging(const char *name, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                CHECK_EQ(dn_center_post(dn_center_darwin(), name, NULL, NULL, DN_POST_MERGE), 0);
}

/* Returns how many signals of a name come before one of another name. */
static unsigned count_signals(const char *name, const char *last)
{
        test_signal signal;

        for (unsigned n = 0;; n++) {
                test_peer_next(peer, &signal);
                if (strcmp(signal.name, last) == 0)
                        return n;
                CHECK_STREQ(signal.name, name);
        }
}

static uint64_t now_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Arguments: name, count. Exits at once. */
ROLE(flood)
{
        CHECK_EQ(n_args, 2);
        post_merging(args[0], (unsigned)strtoul(args[1], NULL, 10));
        return 0;
}

TEST_ON_BUS(aFewPostsAreSentAtOnceAsSeparateSignals)
{
        begin();
        post_merging("few", N_AT_ONCE);
        post_ok(dn_center_darwin(), "last");
        CHECK_EQ(count_signals("few", "last"), N_AT_ONCE);
        end();
}

TEST_ON_BUS(floodReachesTheBusAsAFewSignalsPerMillisecond)
{
        const unsigned n_posts = 20000;
        test_child *child;
        uint64_t began_ms, n_spans;

        begin();
        child = spawn_observer("flood", NULL);
        began_ms = now_ms();
        post_merging("flood", n_posts);
        n_spans = (now_ms() - began_ms) / SPAN_MS + 2;
        post_ok(dn_center_darwin(), "last");
        CHECK(count_signals("flood", "last") <= n_spans * (N_AT_ONCE + 1));
        WAIT_UNTIL_EQ(child_posts(child, 0), n_posts);
        test_child_kill(child);
        end();
}

TEST_ON_BUS(lastPostOfAFloodIsSentWithoutAnotherOne)
{
        test_child *child;

        begin();
        child = spawn_observer("flood", NULL);
        for (unsigned i = 1; i <= 50; i++) {
                post_merging("flood", 3 * N_AT_ONCE);
                WAIT_UNTIL_EQ(child_posts(child, 0), 3 * N_AT_ONCE * i);
        }
        test_child_kill(child);
        end();
}

TEST_ON_BUS(exitSendsWaitingPosts)
{
        tally seen = {0};

        begin();
        tally_observe(dn_center_darwin(), "flood", &seen);
        CHECK_EQ(test_child_wait(test_spawn_role("flood", "flood", "1000", NULL)), 0);
        WAIT_UNTIL_EQ(seen.n_posts, 1000);
        end();
}

TEST_ON_BUS(unmergeablePostSendsTheWaitingOnesToo)
{
        test_signal signal;

        begin();
        for (unsigned i = 0; i < 20; i++) {
                post_merging("flood", N_AT_ONCE + 1);
                post_ok(dn_center_darwin(), "plain");
                do
                        test_peer_next(peer, &signal);
                while (strcmp(signal.name, "flood") == 0);
                CHECK_STREQ(signal.name, "plain");
        }
        end();
}

TEST_MAIN()
