/* Posts waiting for a slow observer. */

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

/* The length of Apple's queue; nothing is merged up to here. */
#define N_QUEUED 16

static tally seen;

/* Returns with the observer inside its first call, which does not return. */
static void block_observer(void)
{
        test_bus_begin();
        seen.blocks = true;
        tally_observe(dn_center_darwin(), "slow", &seen);
        post_ok(dn_center_darwin(), "slow");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

static void release_observer(unsigned n_posts, unsigned n_least_calls, unsigned n_most_calls)
{
        seen.blocks = false;
        WAIT_UNTIL_EQ(seen.n_posts, n_posts);
        fence_executor();
        CHECK_EQ(seen.n_posts, n_posts);
        CHECK(seen.n_calls >= n_least_calls && seen.n_calls <= n_most_calls);
}

TEST(sixteenWaitingPostsAreDeliveredOneByOne)
{
        block_observer();
        for (int i = 0; i < N_QUEUED; i++)
                post_ok(dn_center_darwin(), "slow");
        release_observer(1 + N_QUEUED, 1 + N_QUEUED, 1 + N_QUEUED);
}

/* All posts of another process have been found once an observer that is not slow has heard them.
 * Nothing is merged for that observer if it hears each post before the next one arrives. */
TEST(postsAboveSixteenAreMergedButCounted)
{
        const dn_executor *inline_executor = dn_executor_inline();
        static tally quick = {0};

        block_observer();
        tally_observe_on(dn_center_darwin(), "slow", &quick, inline_executor);
        for (unsigned i = 1; i <= 100; i++) {
                post_ok(dn_center_darwin(), "slow");
                WAIT_UNTIL_EQ(quick.n_calls, i);
        }
        WAIT_UNTIL_EQ(quick.n_posts, 100);
        post_elsewhere("slow", 1000, "return");
        WAIT_UNTIL_EQ(quick.n_posts, 1100);
        CHECK_EQ(seen.n_calls, 1);
        release_observer(1 + 1100, 1 + 2, 1 + N_QUEUED + 1);
}

TEST_MAIN()
