/* dn_shutdown(): nothing is left, and the library can be used again. */
#include <errno.h>
#include <notify.h>
#include <notify_private.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "executors.h"
#include "footing.h"
#include "notify-tally.h"
#include "roles.h"
#include "util/gate.h"

static void shut_down(void)
{
        CHECK_EQ(dn_shutdown(), 0);
}

/* Without a handle. */
static void observe(dn_center *center, const char *name, tally *self)
{
        CHECK_EQ(dn_center_observe(center, name, TALLY_HANDLER(self), NULL, NULL), 0);
}

static void ignore_token(int token, void *context)
{
}

static void *run_kept(void *unused)
{
        run_kept_work();
        return unused;
}

/* --- what is left ----------------------------------------------------------------------------- */

/* Uses every layer. Returns how many handlers were registered. */
static uint64_t use_everything(tally *seen, dn_center *opened)
{
        char path[] = "/";
        int token = NOTIFY_TOKEN_INVALID, fd;

        tally_drop(tally_observe(dn_center_darwin(), "dropped", seen));
        observe(dn_center_darwin(), "kept", seen);
        (void)dn_center_observe_prefix(dn_center_darwin(), "pre", TALLY_HANDLER(seen), NULL, NULL);
        observe(dn_center_local(), "local", seen);
        observe(opened, "opened", seen);
        CHECK_EQ(dn_center_add_observer(dn_center_darwin(), seen, tally_callback, "cf", NULL, 0),
                 0);
        (void)add_check("checked");
        token = add_callback("called", seen);
        CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_file_descriptor("piped", &fd, 0, &token), NOTIFY_STATUS_OK);
        post_ok(dn_center_darwin(), "kept");
        WAIT_UNTIL(seen->n_calls > 0);
        return 6;
}

TEST(nothingIsLeftOfAnyLayer)
{
        test_bus *bus = test_bus_begin();
        footing before = take_footing();
        dn_center *opened = open_center(test_bus_address(bus));
        tally seen = {0};
        uint64_t n_registered;

        for (int i = 1; i <= 3; i++) {
                atomic_store(&seen.n_calls, 0);
                n_registered = use_everything(&seen, opened);
                shut_down();
                CHECK_EQ(seen.n_destroyed, i * n_registered);
                check_nothing_is_left(before);
        }
        CHECK(!dn_center_unref(opened));
}

TEST_ON_BUS(postsBeforeTheShutdownAreSent)
{
        enum { N_POSTS = 100 };
        test_peer *peer = test_peer_begin();

        await_bus(dn_center_distributed());
        for (int i = 0; i < N_POSTS; i++)
                CHECK_EQ(dn_center_post(dn_center_distributed(), "sent", NULL, NULL, 0), 0);
        post_ok(dn_center_darwin(), "last");
        shut_down();
        test_peer_await(peer, "last", NULL);
}

TEST_NO_BUS(unusedLibraryIsShutDown)
{
        shut_down();
        shut_down();
}

/* --- afterwards ------------------------------------------------------------------------------- */

TEST(libraryIsUsedAgain)
{
        test_bus_begin();
        test_child *child = spawn_observer("again", NULL);

        for (uint64_t i = 1; i <= 10; i++) {
                tally seen = {0};
                observe(dn_center_darwin(), "again", &seen);
                post_ok(dn_center_darwin(), "again");
                WAIT_UNTIL_EQ(seen.n_posts, 1);
                shut_down();
                CHECK_EQ(seen.n_destroyed, 1);
        }
        post_ok(dn_center_darwin(), "again");
        WAIT_UNTIL(child_posts(child, 0) == 11);
}

TEST(tokensAreInvalidAndTheirNumbersNotUsedAgain)
{
        test_bus_begin();
        int before[3], after;

        for (int i = 0; i < 3; i++)
                before[i] = add_check("token");
        shut_down();
        after = add_check("token");
        for (int i = 0; i < 3; i++) {
                CHECK(before[i] != after);
                check_invalid(before[i]);
        }
        CHECK(is_changed(after));
        post("token");
        CHECK(is_changed(after));
        cancel(after);
}

TEST(handlesOfTheHostMayBeReleasedAfterwards)
{
        test_bus *bus = test_bus_begin();
        tally seen = {0};
        dn_observer *observer, *other = NULL;
        dn_center *center = open_center(test_bus_address(bus));

        observer = tally_observe(center, "x", &seen);
        shut_down();
        CHECK_EQ(seen.n_destroyed, 1);
        CHECK_EQ(dn_observer_replace(observer, TALLY_HANDLER(&seen), NULL, &other), -EINVAL);
        CHECK_EQ(seen.n_destroyed, 2);
        dn_observer_cancel_wait(observer);
        CHECK(!dn_observer_unref(observer));
        /* The center is as new. */
        observer = tally_observe(center, "x", &seen);
        post_ok(center, "x");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        tally_drop(observer);
        CHECK(!dn_center_unref(center));
        shut_down();
}

/* --- while others use the library ------------------------------------------------------------- */

static void *wait_inside(void *observer)
{
        dn_observer_cancel_wait(observer);
        return NULL;
}

/* An observer whose handler blocks, and a thread that waits for it inside the library. */
TEST(aThreadInsideTheLibraryRefusesTheShutdownAtOnce)
{
        test_bus_begin();
        footing before = take_footing();
        tally running = {.blocks = true}, kept = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "x", &running);
        pthread_t thread;

        observe(dn_center_darwin(), "kept", &kept);
        post_ok(dn_center_darwin(), "x");
        WAIT_UNTIL_EQ(running.n_calls, 1);
        thread = test_start_thread(wait_inside, observer);
        WAIT_UNTIL(dn__gate_has_others(DN__GATE_CALL));
        CHECK_EQ(dn_shutdown(), -EBUSY);
        CHECK_EQ(kept.n_destroyed, 0); /* nothing is done */
        running.blocks = false;
        CHECK_EQ(pthread_join(thread, NULL), 0);
        dn_observer_unref(observer);
        shut_down();
        CHECK_EQ(kept.n_destroyed, 1);
        check_nothing_is_left(before);
}

/* A host's thread that only runs callbacks need not be joined. */
TEST(aThreadThatRunsAWaitingCallbackIsWaitedFor)
{
        test_bus_begin();
        dn_executor executor = {.enqueue = keep_work};
        tally seen = {.blocks = true};
        pthread_t thread;

        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", TALLY_HANDLER(&seen), &executor, NULL),
                 0);
        post_ok(dn_center_darwin(), "x");
        WAIT_UNTIL(is_kept);
        thread = test_start_thread(run_kept, NULL);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_EQ(dn_shutdown(), -EBUSY);
        seen.blocks = false;
        WAIT_UNTIL_EQ(dn_shutdown(), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(seen.n_destroyed, 1);
}

enum { N_THREADS = 8, N_ROUNDS = TEST_HAS_SANITIZER ? 5 : 30 };

static void *post_and_register(void *name)
{
        const dn_token_handler handler = {.invoke = ignore_token};
        int token;

        for (int i = 0; i < 20; i++) {
                post_soon(dn_center_darwin(), name);
                CHECK_EQ(dn_notify_register_callback("self.x", &handler, NULL, &token),
                         NOTIFY_STATUS_OK);
        }
        return NULL;
}

TEST(threadsThatWereJoinedLeaveNothing)
{
        test_bus_begin();
        test_child *child = spawn_observer("busy", NULL);
        footing before = take_footing();
        pthread_t threads[N_THREADS];

        for (int round = 1; round <= N_ROUNDS; round++) {
                for (int i = 0; i < N_THREADS; i++)
                        threads[i] = test_start_thread(post_and_register, "busy");
                for (int i = 0; i < N_THREADS; i++)
                        CHECK_EQ(pthread_join(threads[i], NULL), 0);
                shut_down();
                check_nothing_is_left(before);
        }
        WAIT_UNTIL(child_posts(child, 0) == 20 * N_THREADS * N_ROUNDS);
}

static int forked_child(void)
{
        footing before = take_footing();
        tally seen = {0};

        shut_down(); /* of what the parent has: nothing */
        observe(dn_center_darwin(), "child", &seen);
        post_ok(dn_center_darwin(), "child");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        shut_down();
        CHECK_EQ(seen.n_destroyed, 1);
        check_nothing_is_left(before);
        return 0;
}

TEST(forkedChildShutsDownItsOwnAlone)
{
        test_bus_begin();
        tally seen = {0};
        pid_t pid;

        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer allows no threads in a forked child");
        observe(dn_center_darwin(), "parent", &seen);
        pid = test_fork();
        if (pid == 0)
                exit(forked_child());
        CHECK_EQ(test_wait_for(pid), 0);
        CHECK_EQ(seen.n_destroyed, 0);
        post_ok(dn_center_darwin(), "parent");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        shut_down();
        CHECK_EQ(seen.n_destroyed, 1);
}

/* --- callbacks -------------------------------------------------------------------------------- */

static _Atomic int result_inside;

static void shut_down_inside(const dn_event *event, void *context)
{
        CHECK(event->name);
        result_inside = dn_shutdown();
}

static void shut_down_in_hook(void *context)
{
        result_inside = dn_shutdown();
}

static void check_refused_in_callback(dn_center *center)
{
        dn_handler handler = {.invoke = shut_down_inside};

        result_inside = 0;
        CHECK_EQ(dn_center_observe(center, "self.x", &handler, NULL, NULL), 0);
        post_ok(center, "self.x");
        WAIT_UNTIL_EQ(result_inside, -EDEADLK);
}

TEST_NO_BUS(libraryThatCouldMakeNoThreadIsShutDown)
{
        struct rlimit none = {0, 0};
        dn_handler handler = {.invoke = tally_invoke};

        SKIP_IF(TEST_HAS_SANITIZER, "a leak checker needs a process of its own");
        test_bus_use_none();
        if (geteuid() == 0)
                CHECK_EQ(setreuid(65534, 65534), 0); /* root has no limit */
        CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
        CHECK(dn_center_observe(dn_center_darwin(), "x", &handler, NULL, NULL) < 0);
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_NO_BUS(shutdownIsRefusedInACallback)
{
        tally seen = {0};
        dn_handler handler = {.invoke = tally_invoke, .context = &seen,
                              .destroy = shut_down_in_hook};
        dn_observer *observer;

        check_refused_in_callback(dn_center_darwin());
        check_refused_in_callback(dn_center_local());
        result_inside = 0;
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "self.y", &handler, NULL, &observer), 0);
        tally_drop(observer);
        CHECK_EQ(result_inside, -EDEADLK);
        shut_down();
}

TEST(runningCallbackIsWaitedForButNotForever)
{
        test_bus_begin();
        footing before = take_footing();
        tally seen = {.blocks = true};

        observe(dn_center_darwin(), "x", &seen);
        post_ok(dn_center_darwin(), "x");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_EQ(dn_shutdown(), -EBUSY);
        CHECK_EQ(seen.n_destroyed, 0);
        /* Cancelled, and all else goes on. */
        post_ok(dn_center_darwin(), "x");
        seen.blocks = false;
        WAIT_UNTIL_EQ(dn_shutdown(), 0);
        CHECK_EQ(seen.n_calls, 1);
        CHECK_EQ(seen.n_destroyed, 1);
        check_nothing_is_left(before);
}

static void *shut_down_once(void *ret_result)
{
        *(int *)ret_result = dn_shutdown();
        return NULL;
}

/* Returns whether a call that waits for a callback succeeds although others are made meanwhile. */
static bool one_of_several_succeeds(void)
{
        tally running = {.blocks = true}, waiting = {0};
        int result;

        observe(dn_center_darwin(), "x", &running);
        observe(dn_center_darwin(), "y", &waiting);
        post_ok(dn_center_darwin(), "x");
        WAIT_UNTIL_EQ(running.n_calls, 1);
        pthread_t first = test_start_thread(shut_down_once, &result);
        WAIT_UNTIL_EQ(waiting.n_destroyed, 1); /* the first one has begun */
        for (int i = 0; i < 2; i++) /* one that waits takes a second */
                CHECK_EQ(dn_shutdown(), -EBUSY);
        running.blocks = false;
        CHECK_EQ(pthread_join(first, NULL), 0);
        WAIT_UNTIL_EQ(dn_shutdown(), 0);
        return result == 0;
}

/* It waits for a second at most, which a busy machine may take away. */
TEST(twoThreadsThatShutDownDoNotWaitForEachOther)
{
        test_bus_begin();
        WAIT_UNTIL(one_of_several_succeeds());
}

TEST(deliveryThatWaitsInALoopOfTheHostIsNotLeftBehind)
{
        test_bus_begin();
        tally seen = {0};
        dn_loop *loop = new_loop();
        const dn_executor *executor = dn_loop_executor(loop);

        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", TALLY_HANDLER(&seen), executor, NULL),
                 0);
        post_ok(dn_center_darwin(), "x");
        CHECK_EQ(dn_shutdown(), -EBUSY);
        CHECK_EQ(seen.n_destroyed, 1);
        CHECK(!dn_loop_close(loop));
        shut_down();
        CHECK_EQ(seen.n_calls, 0);
}

TEST_MAIN()
