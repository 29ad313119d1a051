/* Delivery in the host's event loop. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static bool is_readable(dn_loop *loop, int timeout_ms)
{
        struct pollfd wait = {.fd = dn_loop_get_fd(loop), .events = POLLIN};

        return poll(&wait, 1, timeout_ms) == 1 && (wait.revents & POLLIN);
}

static bool becomes_readable(dn_loop *loop)
{
        return is_readable(loop, (int)(TEST_DEADLINE_US / 1000));
}

static dn_observer *observe_on(dn_loop *loop, const char *name, const dn_handler *handler)
{
        const dn_executor *executor = dn_loop_executor(loop);

        return observe_ok(dn_center_darwin(), name, handler, executor);
}

static dn_observer *own_observer;

static void close_loop(const dn_event *event, void *context)
{
        own_observer = tally_drop(own_observer);
        CHECK(!dn_loop_close(context));
}

TEST(aCallbackMayDropItsObserverAndCloseItsLoop)
{
        test_bus *bus = test_bus_begin();
        dn_loop *loop = new_loop();

        own_observer = observe_on(loop, "N", &(dn_handler){.invoke = close_loop, .context = loop});
        post_ok(dn_center_darwin(), "N");
        CHECK(becomes_readable(loop));
        CHECK_EQ(dn_loop_process(loop), 1);
        CHECK(!own_observer);
        test_bus_stop(bus);
}

TEST(descriptorIsReadableWhileCallbacksWait)
{
        test_bus_begin();
        dn_loop *loop = new_loop();
        static tally seen = {0};
        dn_observer *observer = observe_on(loop, "N", TALLY_HANDLER(&seen));

        CHECK(fcntl(dn_loop_get_fd(loop), F_GETFD) & FD_CLOEXEC);
        CHECK(!is_readable(loop, 0));
        CHECK_EQ(dn_loop_process(loop), 0);
        post_ok(dn_center_darwin(), "N");
        CHECK(becomes_readable(loop));
        CHECK(is_readable(loop, 0)); /* level-triggered */
        CHECK_EQ(seen.n_calls, 0);
        CHECK(dn_loop_process(loop) > 0);
        CHECK_EQ(seen.n_calls, 1);
        CHECK(!is_readable(loop, 0));
        tally_drop(observer);
        CHECK(!dn_loop_close(loop));
        CHECK_EQ(seen.n_destroyed, 1);
}

static void post_self(const dn_event *event, void *context)
{
        tally_invoke(event, context);
        post_ok(event->center, event->name);
}

TEST(workAddedWhileProcessingWaitsForTheNextCall)
{
        test_bus_begin();
        dn_loop *loop = new_loop();
        static tally seen = {0};
        dn_handler handler = {.invoke = post_self, .context = &seen, .destroy = tally_destroy};
        dn_observer *observer = observe_on(loop, "N", &handler);

        post_ok(dn_center_darwin(), "N");
        for (unsigned i = 1; i <= 20; i++) {
                CHECK(becomes_readable(loop));
                CHECK(dn_loop_process(loop) > 0);
                CHECK_EQ(seen.n_calls, i);
        }
        tally_drop(observer);
        dn_loop_close(loop);
        CHECK_EQ(seen.n_destroyed, 1);
}

TEST(oneExecutorValueServesTwoNames)
{
        test_bus_begin();
        dn_loop *loop = new_loop();
        const dn_executor *executor = dn_loop_executor(loop);
        static tally first = {0}, second = {0};
        dn_observer *one = tally_observe_on(dn_center_darwin(), "N", &first, executor);
        dn_observer *two = tally_observe_on(dn_center_darwin(), "M", &second, executor);

        tally_drop(one);
        WAIT_UNTIL((dn_loop_process(loop), first.n_destroyed == 1));
        post_ok(dn_center_darwin(), "M");
        WAIT_UNTIL((dn_loop_process(loop), second.n_calls == 1));
        tally_drop(two);
        CHECK(!dn_loop_close(loop));
        CHECK_EQ(second.n_destroyed, 1);
}

TEST(aPostReachesObserversOnManyExecutors)
{
        static tally seen[20];
        dn_loop *loops[20];

        test_bus_begin();
        for (int i = 0; i < 20; i++) {
                loops[i] = new_loop();
                const dn_executor *executor = dn_loop_executor(loops[i]);
                tally_observe_on(dn_center_darwin(), "N", &seen[i], executor);
        }
        post_ok(dn_center_darwin(), "N");
        for (int i = 0; i < 20; i++) {
                CHECK_EQ(dn_loop_process(loops[i]), 1);
                CHECK_EQ(seen[i].n_calls, 1);
                dn_loop_close(loops[i]);
        }
}

TEST(closingRunsWhatWaitsThenRefuses)
{
        test_peer *peer = test_peer_begin();
        dn_loop *loop = new_loop();
        const dn_executor *executor = dn_loop_executor(loop);
        static tally seen = {0};
        dn_observer *observer = observe_on(loop, "N", TALLY_HANDLER(&seen));

        executor->retain(executor->context);
        post_ok(dn_center_darwin(), "N");
        CHECK(becomes_readable(loop));
        dn_loop_close(loop);
        CHECK_EQ(seen.n_calls, 1);
        CHECK_EQ(executor->enqueue(executor->context, tally_destroy, &seen), -ECANCELED);
        executor->release(executor->context);
        post_ok(dn_center_darwin(), "N");
        test_peer_post(peer, "N");
        fence_bus(peer);
        CHECK_EQ(seen.n_calls, 1);
        tally_drop(observer);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
}

/* Makes a loop with a waiting callback, on a center without a bus. */
static dn_center *prepare_to_fork(dn_loop *loop, tally *seen)
{
        const dn_executor *executor = dn_loop_executor(loop);
        dn_center *center = open_center("none");

        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer allows no threads in a forked child");
        CHECK_EQ(dn_center_observe(center, "N", TALLY_HANDLER(seen), executor, NULL), 0);
        CHECK_EQ(dn_center_post(center, "N", NULL, NULL, 0), 0);
        CHECK(becomes_readable(loop));
        return center;
}

static void check_unharmed(dn_loop *loop, dn_center *center, tally *seen)
{
        for (unsigned i = 1; i <= 3; i++) {
                CHECK(becomes_readable(loop));
                CHECK(dn_loop_process(loop) > 0);
                CHECK_EQ(seen->n_calls, i);
                CHECK(!is_readable(loop, 0));
                CHECK_EQ(dn_center_post(center, "N", NULL, NULL, 0), 0);
        }
}

/* Nothing of the parent's loop runs there; it refuses the posts of an observer that is registered
 * on it. */
static void use_in_child(dn_loop *loop, dn_center *center, const tally *of_parent)
{
        const dn_executor *executor = dn_loop_executor(loop);
        static tally fresh = {0};
        dn_observer *observer = NULL;
        int r;

        CHECK_EQ(dn_loop_process(loop), 0);
        r = dn_center_observe(center, "M", TALLY_HANDLER(&fresh), executor, &observer);
        CHECK((r == 0) == (observer != NULL));
        CHECK_EQ(dn_center_post(center, "M", NULL, NULL, 0), 0);
        CHECK_EQ(dn_loop_process(loop), 0);
        if (observer)
                tally_drop(observer);
        CHECK_EQ(fresh.n_destroyed, 1);
        CHECK_EQ(fresh.n_calls, 0);
        CHECK(!dn_loop_close(loop));
        CHECK(of_parent->n_calls == 0 && of_parent->n_destroyed == 0);
}

TEST_NO_BUS(forkedChildLeavesTheLoopOfItsParentAlone)
{
        dn_loop *loop = new_loop();
        static tally seen = {0};
        dn_center *center = prepare_to_fork(loop, &seen);
        pid_t pid = test_fork();

        if (pid == 0) {
                use_in_child(loop, center, &seen);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        check_unharmed(loop, center, &seen);
}

TEST_MAIN()
