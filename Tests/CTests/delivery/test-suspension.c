/* Suspending the distributed center. */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>

#include "record.h"
#include "test-bus.h"

#define NAME "com.example.changed"
#define FENCE "com.example.fence"
#define N(number) NAME " {\"i\": " #number "}\n"

/* One observer of each behavior, all of one name; posts come from another connection. */
static dn_center *center, *poster;
static record drop, coalesce, hold, fence;
static dn_observer *coalescing;

static dn_observer *observe_with(dn_center *observed, int behavior, record *self)
{
        return record_observe(observed, &(dn_filter){ .name = NAME, .behavior = behavior }, self);
}

static void begin(void)
{
        test_bus *bus = test_bus_begin();

        center = dn_center_distributed();
        poster = open_distributed(test_bus_address(bus));
        observe_with(center, DN_SUSPENSION_DROP, &drop);
        coalescing = observe_with(center, 0, &coalesce);
        observe_with(center, DN_SUSPENSION_HOLD, &hold);
        record_observe(center, &(dn_filter){ .name = FENCE, .behavior = DN_SUSPENSION_DROP },
                       &fence);
}

static void set_suspended(bool is_suspended)
{
        CHECK_EQ(dn_center_set_suspended(center, is_suspended), 0);
}

/* Posts, and returns when the post has reached the observers: the service thread counts the next
 * signal after that. */
static void post_and_wait(const char *object, int64_t number)
{
        uint64_t n_before = statistic_of(center, DN_STATISTIC_SIGNALS_RECEIVED);

        CHECK_EQ(post_number(poster, NAME, object, number), 0);
        CHECK_EQ(post_number(poster, FENCE, NULL, number), 0);
        WAIT_UNTIL(statistic_of(center, DN_STATISTIC_SIGNALS_RECEIVED) >= n_before + 2);
}

TEST_NO_BUS(noCenterIsSuspendedInitially)
{
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        CHECK(!dn_center_is_suspended(dn_center_distributed()));
        CHECK(!dn_center_is_suspended(dn_center_darwin()));
        CHECK(!dn_center_is_suspended(NULL));
        CHECK_EQ(dn_center_set_suspended(dn_center_darwin(), true), -EINVAL);
        CHECK_EQ(dn_center_set_suspended(dn_center_local(), true), -EINVAL);
        CHECK_EQ(dn_center_set_suspended(NULL, true), -EINVAL);
        CHECK_EQ(dn_center_set_suspended(dn_center_distributed(), true), 0);
        CHECK(dn_center_is_suspended(dn_center_distributed()));
        CHECK_EQ(dn_center_set_suspended(dn_center_distributed(), false), 0);
        CHECK(!dn_center_is_suspended(dn_center_distributed()));
}

/* Another center is not suspended. */
TEST_ON_BUS(resumingDeliversWhatWasKeptInOrder)
{
        static record other, removed;

        begin();
        observe_with(poster, DN_SUSPENSION_DROP, &other);
        dn_observer *observer = observe_with(center, DN_SUSPENSION_HOLD, &removed);
        set_suspended(true);
        CHECK(!dn_center_is_suspended(poster));
        for (int i = 1; i <= 3; i++)
                post_and_wait(NULL, i);
        record_expect(&other, 3, N(1) N(2) N(3));
        CHECK_EQ(drop.n_calls + coalesce.n_calls + hold.n_calls, 0);
        dn_observer_cancel(observer);
        set_suspended(false);
        record_expect(&hold, 3, N(1) N(2) N(3));
        record_expect(&coalesce, 1, NAME " {\"i\": 3} x3\n");
        post_and_wait(NULL, 4);
        record_expect(&drop, 1, N(4));
        record_expect(&coalesce, 2, NAME " {\"i\": 3} x3\n" N(4));
        record_expect(&hold, 4, N(1) N(2) N(3) N(4));
        CHECK_EQ(removed.n_calls, 0);
        dn_observer_unref(observer);
}

TEST_ON_BUS(coalescingIsByNameAndObject)
{
        begin();
        set_suspended(true);
        post_and_wait("x", 1);
        post_and_wait("y", 2);
        post_and_wait("x", 3);
        post_and_wait(NULL, 4);
        post_and_wait("", 5);
        set_suspended(false);
        record_expect(&coalesce, 4,
                      NAME " @y {\"i\": 2}\n" NAME " @x {\"i\": 3} x2\n" NAME " {\"i\": 4}\n" NAME
                           " @ {\"i\": 5}\n");
}

TEST_ON_BUS(onlyTheLatestIsKeptWhereAllCoalesce)
{
        test_bus *bus = test_bus_begin();

        center = dn_center_distributed();
        poster = open_distributed(test_bus_address(bus));
        observe_with(center, DN_SUSPENSION_COALESCE, &coalesce);
        set_suspended(true);
        for (int i = 1; i <= 3; i++) {
                uint64_t n_before = statistic_of(center, DN_STATISTIC_SIGNALS_RECEIVED);

                CHECK_EQ(post_number(poster, NAME, NULL, i), 0);
                WAIT_UNTIL(statistic_of(center, DN_STATISTIC_SIGNALS_RECEIVED) > n_before);
        }
        CHECK_EQ(coalesce.n_calls, 0);
        set_suspended(false);
        record_expect(&coalesce, 1, NAME " {\"i\": 3} x3\n");
}

TEST_ON_BUS(anImmediatePostReachesAllAfterWhatWasKept)
{
        begin();
        set_suspended(true);
        post_and_wait(NULL, 1);
        post_and_wait(NULL, 2);
        /* Includes unknown bits. */
        CHECK_EQ(dn_center_post(poster, NAME, NULL, NULL,
                                DN_POST_DELIVER_IMMEDIATELY | DN_POST_TO_ALL_SESSIONS | 1u << 30),
                 0);
        record_expect(&hold, 3, N(1) N(2) NAME "\n");
        record_expect(&coalesce, 2, NAME " {\"i\": 2} x2\n" NAME "\n");
        record_expect(&drop, 1, NAME "\n");
        CHECK(dn_center_is_suspended(center));
        post_and_wait(NULL, 3);
        CHECK_EQ(hold.n_calls, 3);
        set_suspended(false);
        record_expect(&hold, 4, N(1) N(2) NAME "\n" N(3));
}

TEST_ON_BUS(anObserverThatIsNeverSuspendedFlushesWhatWasKept)
{
        dn_filter filter = { .name = NAME, .object = "now",
                             .behavior = DN_SUSPENSION_DELIVER_IMMEDIATELY };
        static record immediate;

        begin();
        record_observe(center, &filter, &immediate);
        set_suspended(true);
        post_and_wait(NULL, 1);
        CHECK_EQ(immediate.n_calls + hold.n_calls, 0);
        post_and_wait("now", 2);
        record_expect(&immediate, 1, NAME " @now {\"i\": 2}\n");
        record_expect(&hold, 2, N(1) NAME " @now {\"i\": 2}\n");
        CHECK(dn_center_is_suspended(center));
        post_and_wait(NULL, 3);
        CHECK_EQ(hold.n_calls, 2);
}

TEST_ON_BUS(aReplacedObserverStillCoalescesWithWhatWasKept)
{
        static record next;

        begin();
        record_init(&next);
        set_suspended(true);
        post_and_wait(NULL, 1);
        CHECK_EQ(dn_observer_replace(coalescing, RECORD_HANDLER(&next), NULL, NULL), 0);
        post_and_wait(NULL, 2);
        set_suspended(false);
        record_expect(&next, 1, NAME " {\"i\": 2} x2\n");
        record_expect(&hold, 2, N(1) N(2));
}

/* Two observers: each hears the first post before either hears the second. */
TEST_ON_BUS(eachKeptPostReachesAllObserversBeforeTheNext)
{
        static record second;

        begin();
        observe_with(center, DN_SUSPENSION_HOLD, &second);
        set_suspended(true);
        post_and_wait(NULL, 1);
        post_and_wait(NULL, 2);
        second.blocks = true;
        set_suspended(false);
        WAIT_UNTIL_EQ(second.n_calls, 1);
        CHECK_EQ(hold.n_calls, 1);
        second.blocks = false;
        record_expect(&second, 2, N(1) N(2));
}

TEST(keptPostsOfDifferentNamesComeInTheirOrder)
{
        enum { N_NAMES = 8 };
        static const char *const names[N_NAMES] = { "self.3", "self.5", "self.1", "self.7",
                                                    "self.2", "self.8", "self.4", "self.6" };
        dn_filter filter = { .behavior = DN_SUSPENSION_HOLD };
        static record seen;

        test_bus_begin();
        center = dn_center_distributed();
        record_init(&seen);
        for (int i = 0; i < N_NAMES; i++) {
                filter.name = names[N_NAMES - 1 - i];
                CHECK_EQ(dn_center_observe_filtered(center, &filter, RECORD_HANDLER(&seen), NULL,
                                                    NULL),
                         0);
        }
        set_suspended(true);
        for (int i = 0; i < N_NAMES; i++)
                CHECK_EQ(dn_center_post(center, names[i], NULL, NULL, 0), 0);
        set_suspended(false);
        record_expect(&seen, N_NAMES,
                      "self.3\nself.5\nself.1\nself.7\nself.2\nself.8\nself.4\nself.6\n");
}

static dn_dict *large_dict(void)
{
        const size_t n_bytes = DN_DICT_MAX_BYTES - 1024;
        dn_dict_builder *builder = dn_dict_builder_new();
        char *bytes = calloc(1, n_bytes);

        dn_dict_builder_set_data(builder, "data", bytes, n_bytes);
        free(bytes);
        return finish(builder);
}

static void count_event(const dn_event *event, void *context)
{
        uint64_t *counts = context;

        counts[0] += event->n_posts;
        counts[1] += event->n_dropped;
}

/* First what is kept while the center is suspended, then what waits in the queue: the newest
 * remain, and the first of them reports the loss. */
static void check_bounded(const dn_dict *user_info, int n_posts, uint64_t n_most)
{
        dn_filter filter = { .name = "self.x", .behavior = DN_SUSPENSION_HOLD };
        uint64_t counts[2] = { 0 };
        dn_handler handler = { .invoke = count_event, .context = counts };
        dn_observer *observer = NULL;
        dn_loop *loop = new_loop();
        const dn_executor *executor = dn_loop_executor(loop);

        CHECK_EQ(dn_center_observe_filtered(center, &filter, &handler, executor, &observer), 0);
        for (int is_suspended = 1; is_suspended >= 0; is_suspended--) {
                set_suspended(is_suspended);
                for (int i = 0; i < n_posts; i++)
                        CHECK_EQ(dn_center_post(center, "self.x", NULL, user_info, 0), 0);
                set_suspended(false);
                WAIT_UNTIL((dn_loop_process(loop), counts[0] >= n_most));
                CHECK_EQ(counts[0], n_most);
                CHECK_EQ(counts[1], (uint64_t)n_posts - n_most);
                memset(counts, 0, sizeof counts);
        }
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        dn_loop_close(loop);
}

TEST_NO_BUS(waitingPostsAreBoundedInNumberAndBytes)
{
        AUTO_DICT *large = large_dict();

        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        center = dn_center_distributed();
        check_bounded(NULL, 3 * 65536, 65536);
        check_bounded(large, 10, 4);
}

TEST_ON_BUS(aClosedCenterForgetsWhatItKept)
{
        test_bus *bus = test_bus_begin();
        dn_center *closed = open_distributed(test_bus_address(bus));
        static record seen;
        dn_observer *observer = observe_with(closed, DN_SUSPENSION_HOLD, &seen);

        CHECK_EQ(dn_center_set_suspended(closed, true), 0);
        CHECK(post_number(closed, NAME, NULL, 1) >= 0);
        record_drop(observer, &seen);
        dn_center_unref(closed);
        CHECK_EQ(dn_shutdown(), 0);
        CHECK_EQ(seen.n_calls, 0);
}

TEST_MAIN()
