/* Out of memory in the distributed center: what is not delivered is reported. */
#include "failing-thread.h"
#include "late.h"
#include "tally.h"
#include "test-bus.h"

/* Each post is counted, or reported as dropped by the next one. */
static unsigned post_without_memory(dn_center *center, bool is_suspended)
{
        unsigned n_posts = 0;

        for (; has_failed || n_posts == 0; n_posts++) {
                WAIT_UNTIL(dn_center_is_on_bus(center) == 1);
                CHECK_EQ(dn_center_set_suspended(center, is_suspended), 0);
                has_failed = false;
                n_until_failure = (int)n_posts;
                CHECK(dn_center_post(center, "N", "object", NULL, 0) >= 0 || has_failed);
                n_until_failure = -1;
                CHECK_EQ(dn_center_set_suspended(center, false), 0);
        }
        return n_posts;
}

static _Atomic uint64_t n_heard;

static void note_posts(const dn_event *event, void *context)
{
        n_heard += event->n_posts + event->n_dropped;
}

TEST_ON_BUS(distributedPostsThatRanOutOfMemoryAreReported)
{
        require_failing_allocator();
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        uint64_t n_posts = 1;

        observe_ok(center, "N", &(dn_handler){.invoke = note_posts}, NULL);
        n_posts += post_without_memory(center, false);
        n_posts += post_without_memory(center, true);
        post_soon(center, "N");
        WAIT_UNTIL_EQ(n_heard, n_posts);
}

static _Atomic bool holds_up;

static void note_posts_later(const dn_event *event, void *context)
{
        note_posts(event, context);
        WAIT_UNTIL(!holds_up);
}

/* Two have room at first. */
TEST_ON_BUS(distributedPostsThatCannotWaitAreReported)
{
        require_failing_allocator();
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        uint64_t n_posts = 3;

        n_heard = 0;
        holds_up = true;
        observe_ok(center, "N", &(dn_handler){.invoke = note_posts_later}, NULL);
        post_soon(center, "N");
        WAIT_UNTIL_EQ(n_heard, 1);
        post_ok(center, "N");
        post_ok(center, "N");
        n_posts += post_without_memory(center, false);
        post_ok(center, "N");
        holds_up = false;
        WAIT_UNTIL_EQ(n_heard, n_posts + 1);
}

TEST_MAIN()
