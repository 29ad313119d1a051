/* Posts waiting for a slow observer. */
#include <pthread.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

/* The length of Apple's queue; nothing is merged up to here. */
#define N_QUEUED 16

static test_bus *bus;
static tally seen;

/* Returns with the observer inside its first call, which does not return. */
static void hold_observer(void)
{
        bus = test_bus_begin();
        seen.holds = true;
        tally_observe(dn_center_darwin(), "slow", &seen);
        post_ok(dn_center_darwin(), "slow");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

/* After the first call, expects up to sixteen single ones and one for the rest. */
static void check_merged(unsigned n_posts)
{
        seen.holds = false;
        WAIT_UNTIL_EQ(seen.n_posts, 1 + n_posts);
        fence_executor();
        CHECK_EQ(seen.n_posts, 1 + n_posts);
        CHECK(seen.n_calls >= 1 + 2 && seen.n_calls <= 1 + N_QUEUED + 1);
        test_bus_stop(bus);
}

TEST(sixteenWaitingPostsAreDeliveredOneByOne)
{
        hold_observer();
        for (int i = 0; i < N_QUEUED; i++)
                post_ok(dn_center_darwin(), "slow");
        seen.holds = false;
        WAIT_UNTIL_EQ(seen.n_calls, 1 + N_QUEUED);
        WAIT_UNTIL_EQ(seen.n_posts, 1 + N_QUEUED); /* counted after the call */
}

TEST(postsAboveSixteenAreMergedButCounted)
{
        const unsigned n_posts = 1000;

        hold_observer();
        for (unsigned i = 0; i < n_posts; i++)
                post_ok(dn_center_darwin(), "slow");
        check_merged(n_posts);
}

TEST(postsOfAnotherProcessAreMergedButCounted)
{
        const unsigned n_posts = 1000;

        dn_executor inline_executor = dn_executor_inline();
        static tally quick = {0};

        hold_observer();
        tally_observe_on(dn_center_darwin(), "slow", &quick, &inline_executor);
        post_elsewhere("slow", n_posts, "return");
        WAIT_UNTIL_EQ(quick.n_posts, n_posts); /* the service thread has read them all */
        check_merged(n_posts);
}

TEST(slowObserverDoesNotMergeForOthersOfTheName)
{
        dn_executor inline_executor = dn_executor_inline();
        static tally quick = {0};

        hold_observer();
        tally_observe_on(dn_center_darwin(), "slow", &quick, &inline_executor);
        for (unsigned i = 1; i <= 100; i++) {
                post_ok(dn_center_darwin(), "slow");
                WAIT_UNTIL_EQ(quick.n_calls, i);
        }
        WAIT_UNTIL_EQ(quick.n_posts, 100);
        CHECK_EQ(seen.n_calls, 1);
        seen.holds = false;
        WAIT_UNTIL_EQ(seen.n_posts, 101);
}

TEST_MAIN()
