/* Suspending the distributed center. */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>

#include "record.h"
#include "test-bus.h"

#define NAME "com.example.changed"
#define FENCE "com.example.fence"
#define N(number) NAME " {\"i\": " #number "}\n"

/* Observers of each behavior, of one name, and one of the fence; posts come from another
 * connection. */
typedef struct stage {
        test_bus *bus;
        dn_center *center;
        dn_center *poster;
        record drop, coalesce, hold, fence;
        dn_observer *observers[4];
} stage;

static dn_observer *observe_with(dn_center *center, int behavior, record *self)
{
        return record_observe(center, &(dn_filter){ .name = NAME, .behavior = behavior }, self);
}

static void stage_begin(stage *stage)
{
        stage->bus = test_bus_begin();
        stage->center = dn_center_distributed();
        CHECK_EQ(dn_center_open_distributed(test_bus_address(stage->bus), &stage->poster), 0);
        stage->observers[0] = observe_with(stage->center, DN_SUSPENSION_DROP, &stage->drop);
        stage->observers[1] = observe_with(stage->center, 0, &stage->coalesce);
        stage->observers[2] = observe_with(stage->center, DN_SUSPENSION_HOLD, &stage->hold);
        stage->observers[3] = record_observe(
                stage->center, &(dn_filter){ .name = FENCE, .behavior = DN_SUSPENSION_DROP },
                &stage->fence);
}

static void stage_end(stage *stage)
{
        CHECK_EQ(dn_center_set_suspended(stage->center, false), 0);
        record_drop(stage->observers[0], &stage->drop);
        record_drop(stage->observers[1], &stage->coalesce);
        record_drop(stage->observers[2], &stage->hold);
        record_drop(stage->observers[3], &stage->fence);
        dn_center_unref(stage->poster);
        test_bus_stop(stage->bus);
}

static uint64_t n_received(dn_center *center)
{
        uint64_t n = 0;

        CHECK_EQ(dn_center_get_statistic(center, DN_STATISTIC_SIGNALS_RECEIVED, &n), 0);
        return n;
}

/* Posts, and returns when the post has reached the observers: the service thread counts the next
 * signal after that. */
static void post_and_wait(stage *stage, const char *object, int64_t number)
{
        uint64_t n_before = n_received(stage->center);

        CHECK_EQ(post_number(stage->poster, NAME, object, number), 0);
        CHECK_EQ(post_number(stage->poster, FENCE, NULL, number), 0);
        WAIT_UNTIL(n_received(stage->center) >= n_before + 2);
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

TEST_ON_BUS(resumingDeliversWhatWasKeptInOrder)
{
        stage stage;

        stage_begin(&stage);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        for (int i = 1; i <= 3; i++)
                post_and_wait(&stage, NULL, i);
        CHECK_EQ(stage.drop.n_calls + stage.coalesce.n_calls + stage.hold.n_calls, 0);
        CHECK_EQ(dn_center_set_suspended(stage.center, false), 0);
        record_expect(&stage.hold, 3, N(1) N(2) N(3));
        record_expect(&stage.coalesce, 1, NAME " {\"i\": 3} x3\n");
        post_and_wait(&stage, NULL, 4);
        record_expect(&stage.drop, 1, N(4));
        record_expect(&stage.coalesce, 2, NAME " {\"i\": 3} x3\n" N(4));
        record_expect(&stage.hold, 4, N(1) N(2) N(3) N(4));
        stage_end(&stage);
}

TEST_ON_BUS(coalescingIsByNameAndObject)
{
        stage stage;

        stage_begin(&stage);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        post_and_wait(&stage, "x", 1);
        post_and_wait(&stage, "y", 2);
        post_and_wait(&stage, "x", 3);
        post_and_wait(&stage, NULL, 4);
        post_and_wait(&stage, "", 5);
        CHECK_EQ(dn_center_set_suspended(stage.center, false), 0);
        record_expect(&stage.coalesce, 4,
                      NAME " @y {\"i\": 2}\n" NAME " @x {\"i\": 3} x2\n" NAME " {\"i\": 4}\n" NAME
                           " @ {\"i\": 5}\n");
        stage_end(&stage);
}

TEST_ON_BUS(anImmediatePostReachesAllAfterWhatWasKept)
{
        stage stage;
        dn_dict *none = NULL;

        stage_begin(&stage);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        post_and_wait(&stage, NULL, 1);
        post_and_wait(&stage, NULL, 2);
        /* Unknown bits, too. */
        CHECK_EQ(dn_center_post(stage.poster, NAME, NULL, none,
                                DN_POST_DELIVER_IMMEDIATELY | DN_POST_TO_ALL_SESSIONS | 1u << 30),
                 0);
        record_expect(&stage.hold, 3, N(1) N(2) NAME "\n");
        record_expect(&stage.coalesce, 2, NAME " {\"i\": 2} x2\n" NAME "\n");
        record_expect(&stage.drop, 1, NAME "\n");
        CHECK(dn_center_is_suspended(stage.center));
        post_and_wait(&stage, NULL, 3);
        CHECK_EQ(stage.hold.n_calls, 3);
        CHECK_EQ(dn_center_set_suspended(stage.center, false), 0);
        record_expect(&stage.hold, 4, N(1) N(2) NAME "\n" N(3));
        stage_end(&stage);
}

TEST_ON_BUS(anObserverThatIsNeverSuspendedFlushesWhatWasKept)
{
        stage stage;
        record immediate;
        dn_observer *observer;

        stage_begin(&stage);
        observer = record_observe(
                stage.center,
                &(dn_filter){ .name = NAME, .object = "now",
                              .behavior = DN_SUSPENSION_DELIVER_IMMEDIATELY },
                &immediate);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        post_and_wait(&stage, NULL, 1);
        CHECK_EQ(immediate.n_calls + stage.hold.n_calls, 0);
        post_and_wait(&stage, "now", 2);
        record_expect(&immediate, 1, NAME " @now {\"i\": 2}\n");
        record_expect(&stage.hold, 2, N(1) NAME " @now {\"i\": 2}\n");
        CHECK(dn_center_is_suspended(stage.center));
        post_and_wait(&stage, NULL, 3);
        CHECK_EQ(stage.hold.n_calls, 2);
        record_drop(observer, &immediate);
        stage_end(&stage);
}

TEST_ON_BUS(onlyTheCenterThatIsSuspendedIs)
{
        stage stage;
        record darwin, other;
        dn_center *second = NULL;
        dn_observer *observers[2];

        stage_begin(&stage);
        CHECK_EQ(dn_center_open_distributed(test_bus_address(stage.bus), &second), 0);
        observers[0] = observe_with(dn_center_darwin(), DN_SUSPENSION_DROP, &darwin);
        observers[1] = observe_with(second, DN_SUSPENSION_DROP, &other);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        CHECK(!dn_center_is_suspended(second));
        post_and_wait(&stage, NULL, 1);
        CHECK_EQ(dn_center_post(dn_center_darwin(), NAME, NULL, NULL, 0), 0);
        record_expect(&other, 1, N(1));
        record_expect(&darwin, 1, NAME "\n");
        CHECK_EQ(stage.hold.n_calls, 0);
        record_drop(observers[0], &darwin);
        record_drop(observers[1], &other);
        dn_center_unref(second);
        stage_end(&stage);
}

TEST_ON_BUS(whatWasKeptForAnObserverThatIsRemovedIsNotDelivered)
{
        stage stage;
        record removed;

        stage_begin(&stage);
        record_init(&removed);
        CHECK_EQ(dn_center_add_observer(stage.center, &removed, record_callback, NAME, NULL,
                                        DN_SUSPENSION_HOLD),
                 0);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        post_and_wait(&stage, NULL, 1);
        CHECK_EQ(dn_center_remove_observer(stage.center, &removed, NAME, NULL), 0);
        CHECK_EQ(dn_center_set_suspended(stage.center, false), 0);
        record_expect(&stage.hold, 1, N(1));
        CHECK_EQ(removed.n_calls, 0);
        record_deinit(&removed);
        stage_end(&stage);
}

TEST_ON_BUS(aReplacedObserverStillCoalescesWithWhatWasKept)
{
        stage stage;
        record next;
        dn_observer *observer = NULL;

        stage_begin(&stage);
        record_init(&next);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        post_and_wait(&stage, NULL, 1);
        CHECK_EQ(dn_observer_replace(stage.observers[1], record_handler(&next), NULL, &observer),
                 0);
        post_and_wait(&stage, NULL, 2);
        CHECK_EQ(dn_center_set_suspended(stage.center, false), 0);
        record_expect(&next, 1, NAME " {\"i\": 2} x2\n");
        record_expect(&stage.hold, 2, N(1) N(2));
        record_drop(observer, &next);
        stage_end(&stage);
}

/* Two observers: each hears the first post before either hears the second. */
TEST_ON_BUS(whatWasKeptForSeveralObserversComesPostByPost)
{
        stage stage;
        record second;
        dn_observer *observer;

        stage_begin(&stage);
        observer = observe_with(stage.center, DN_SUSPENSION_HOLD, &second);
        CHECK_EQ(dn_center_set_suspended(stage.center, true), 0);
        post_and_wait(&stage, NULL, 1);
        post_and_wait(&stage, NULL, 2);
        second.holds = true;
        CHECK_EQ(dn_center_set_suspended(stage.center, false), 0);
        WAIT_UNTIL_EQ(second.n_calls, 1);
        CHECK_EQ(stage.hold.n_calls, 1);
        second.holds = false;
        record_expect(&second, 2, N(1) N(2));
        record_drop(observer, &second);
        stage_end(&stage);
}

TEST(whatWasKeptOfDifferentNamesComesInTheOrderOfThePosts)
{
        enum { N_NAMES = 8 };
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        static const char *const names[N_NAMES] = { "self.3", "self.5", "self.1", "self.7",
                                                    "self.2", "self.8", "self.4", "self.6" };
        dn_observer *observers[N_NAMES];
        dn_filter filter = { .behavior = DN_SUSPENSION_HOLD };
        static record seen;

        record_init(&seen);
        for (int i = 0; i < N_NAMES; i++) {
                filter.name = names[N_NAMES - 1 - i];
                CHECK_EQ(dn_center_observe_filtered(center, &filter, record_handler(&seen), NULL,
                                                    &observers[i]),
                         0);
        }
        CHECK_EQ(dn_center_set_suspended(center, true), 0);
        for (int i = 0; i < N_NAMES; i++)
                CHECK_EQ(dn_center_post(center, names[i], NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_set_suspended(center, false), 0);
        record_expect(&seen, N_NAMES,
                      "self.3\nself.5\nself.1\nself.7\nself.2\nself.8\nself.4\nself.6\n");
        for (int i = 0; i < N_NAMES; i++) {
                dn_observer_cancel_wait(observers[i]);
                dn_observer_unref(observers[i]);
        }
}

static dn_dict *large_dict(void)
{
        const size_t n_bytes = DN_DICT_MAX_BYTES - 1024;
        dn_dict_builder *builder = dn_dict_builder_new();
        char *bytes = calloc(1, n_bytes);
        dn_dict *dict = NULL;

        dn_dict_builder_set_data(builder, "data", bytes, n_bytes);
        CHECK_EQ(dn_dict_builder_finish(builder, &dict), 0);
        free(bytes);
        return dict;
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
        dn_center *center = dn_center_distributed();
        dn_filter filter = { .name = "self.x", .behavior = DN_SUSPENSION_HOLD };
        uint64_t counts[2] = { 0 };
        dn_handler handler = { .invoke = count_event, .context = counts };
        dn_observer *observer = NULL;
        dn_loop *loop = NULL;
        dn_executor executor;

        CHECK_EQ(dn_loop_new(&loop), 0);
        executor = dn_loop_executor(loop);
        CHECK_EQ(dn_center_observe_filtered(center, &filter, handler, &executor, &observer), 0);
        for (int is_suspended = 1; is_suspended >= 0; is_suspended--) {
                CHECK_EQ(dn_center_set_suspended(center, is_suspended), 0);
                for (int i = 0; i < n_posts; i++)
                        CHECK_EQ(dn_center_post(center, "self.x", NULL, user_info, 0), 0);
                CHECK_EQ(dn_center_set_suspended(center, false), 0);
                WAIT_UNTIL((dn_loop_process(loop), counts[0] >= n_most));
                CHECK_EQ(counts[0], n_most);
                CHECK_EQ(counts[1], (uint64_t)n_posts - n_most);
                memset(counts, 0, sizeof counts);
        }
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        dn_loop_close(loop);
}

TEST_NO_BUS(whatWaitsIsBoundedInNumberAndBytes)
{
        dn_dict *large = large_dict();

        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        check_bounded(NULL, 3 * 65536, 65536);
        check_bounded(large, 10, 4);
        dn_dict_unref(large);
}

TEST_MAIN()
