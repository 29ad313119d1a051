/* An idle process that waits for notifications sleeps. */
#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define N_OBSERVERS 1000
#define WINDOW_MS 2000

static test_bus *bus;
static test_peer *peer;
static tally seen[N_OBSERVERS];

/* Posts as many unobserved names as the line says, then "last". */
ROLE(postUnobserved)
{
        char line[32];

        while (fgets(line, sizeof line, stdin)) {
                unsigned long n = strtoul(line, NULL, 10);
                for (unsigned i = 0; i < n; i++)
                        if (dn_center_post(dn_center_darwin(), numbered("unobserved", i), NULL,
                                           NULL, 0) == -ENOBUFS)
                                dn_flush(TEST_DEADLINE_US);
                dn_center_post(dn_center_darwin(), "last", NULL, NULL, 0);
        }
        return 0;
}

static void observe_all(void)
{
        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer has a thread of its own that wakes up");
        bus = test_bus_begin();
        peer = test_peer_open(test_bus_address(bus));
        test_peer_watch(peer, "type='signal',arg0='last'");
        tally_observe_all("observed", seen, N_OBSERVERS);
        post_ok(dn_center_darwin(), "observed.7");
        WAIT_UNTIL_EQ(seen[7].n_calls, 1);
}

/* Lets the effects of the preparations end before the measurement begins. */
static uint64_t wait_until_quiet(void)
{
        uint64_t before, after = test_n_switches_of_others();
        bool do_rest;

        do {
                before = after;
                test_let_pass_ms(300);
                do_rest = test_others_rest();
                after = test_n_switches_of_others();
        } while (before != after || !do_rest);
        return after;
}

TEST(idleProcessNeverWakesUp)
{
        observe_all();
        uint64_t n_before = wait_until_quiet();
        test_let_pass_ms(WINDOW_MS);
        CHECK_EQ(test_n_switches_of_others(), n_before);
        post_ok(dn_center_darwin(), "observed.7");
        WAIT_UNTIL_EQ(seen[7].n_calls, 2);
        CHECK(test_n_switches_of_others() > n_before); /* the measurement works */
}

TEST_ON_BUS(postsOfUnobservedNamesDoNotWakeTheProcess)
{
        observe_all();
        test_child *poster = test_spawn_role("postUnobserved", NULL);
        uint64_t n_before = wait_until_quiet();
        test_child_write_line(poster, "10000");
        test_peer_expect(peer, "last");
        CHECK_EQ(test_n_switches_of_others(), n_before);
}

TEST_MAIN()
