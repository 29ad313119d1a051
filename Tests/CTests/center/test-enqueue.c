/* Work of the host on the thread that reads the shared table. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "executors.h"
#include "roles.h"
#include "tally.h"
#include "test-child.h"

static void enqueue_ok(dn_center *center, dn_work_fn work, void *argument)
{
        CHECK_EQ(dn_center_enqueue(center, work, argument), 0);
}

static void do_nothing(void *argument)
{
}

/* --- arguments -------------------------------------------------------------------------------- */

TEST_NO_BUS(enqueueRefusesMissingArgumentsAndTheLocalCenter)
{
        CHECK_EQ(dn_center_enqueue(NULL, do_nothing, NULL), -EINVAL);
        CHECK_EQ(dn_center_enqueue(dn_center_darwin(), NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_enqueue(dn_center_local(), do_nothing, NULL), -EINVAL);
}

/* --- where and when --------------------------------------------------------------------------- */

static pthread_t thread_of_handler, thread_of_work;
static _Atomic unsigned n_noted_threads;

static void note_thread_of_work(void *argument)
{
        thread_of_work = pthread_self();
        n_noted_threads++;
}

static void note_thread_of_handler(const dn_event *event, void *context)
{
        thread_of_handler = pthread_self();
        n_noted_threads++;
}

/* The work is the first use of the center. */
static void check_runs_where_inline_handlers_run(dn_center *center)
{
        const dn_handler handler = {.invoke = note_thread_of_handler};
        dn_observer *observer;

        n_noted_threads = 0;
        enqueue_ok(center, note_thread_of_work, NULL);
        WAIT_UNTIL_EQ(n_noted_threads, 1);
        observer = observe_ok(center, "self.x", &handler, dn_executor_inline());
        post_ok(center, "self.x");
        WAIT_UNTIL_EQ(n_noted_threads, 2);
        CHECK(pthread_equal(thread_of_work, thread_of_handler));
        CHECK(!pthread_equal(thread_of_work, pthread_self()));
        tally_drop(observer);
        CHECK(!dn_center_unref(center));
}

TEST_NO_BUS(workRunsWhereInlineHandlersRun)
{
        check_runs_where_inline_handlers_run(open_center("none"));
        check_runs_where_inline_handlers_run(open_distributed("none"));
}

/* Until then the delivery thread may sleep in the table for the center. */
TEST_NO_BUS(threadThatRunsWorkReadsTheTable)
{
        dn_center *center = open_center("none"), *poster = open_center("none");
        tally seen = {0};
        dn_observer *observer = tally_observe(center, "x", &seen), *at_once;
        const dn_handler handler = {.invoke = note_thread_of_handler};

        enqueue_ok(center, note_thread_of_work, NULL);
        WAIT_UNTIL_EQ(n_noted_threads, 1);
        at_once = observe_ok(center, "x", &handler, dn_executor_inline());
        post_ok(poster, "x");
        WAIT_UNTIL_EQ(n_noted_threads, 2);
        CHECK(pthread_equal(thread_of_work, thread_of_handler));
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        tally_drop(at_once);
        tally_drop(observer);
        dn_center_unref(poster);
        dn_center_unref(center);
}

static _Atomic bool blocks;

static void block(void *argument)
{
        WAIT_UNTIL(!blocks);
}

/* Returns while the thread of the center is inside of it. */
static void block_thread(dn_center *center)
{
        blocks = true;
        enqueue_ok(center, block, NULL);
}

static void note_work(void *argument)
{
        note_number(NULL, argument);
}

static void enqueue_number(dn_center *center, int number)
{
        enqueue_ok(center, note_work, (void *)(intptr_t)number);
}

TEST_NO_BUS(workAndInlineHandlersRunInTheOrderOfTheCalls)
{
        dn_center *center = open_center("none");
        dn_observer *observer =
                observe_ok(center, "self.x", NOTING(2), dn_executor_inline());

        block_thread(center);
        enqueue_number(center, 0);
        enqueue_number(center, 1);
        post_ok(center, "self.x");
        enqueue_number(center, 3);
        blocks = false;
        WAIT_UNTIL_EQ(n_noted, 4);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(noted[i], i);
        tally_drop(observer);
        dn_center_unref(center);
}

static _Atomic bool is_inside, has_run_inside;
static _Atomic unsigned n_again;

static void run_again(void *argument)
{
        has_run_inside = has_run_inside || is_inside;
        is_inside = true;
        if (n_again++ < 10)
                enqueue_ok(argument, run_again, argument);
        is_inside = false;
}

TEST_NO_BUS(workNeverRunsInsideTheCall)
{
        dn_center *center = open_center("none");

        enqueue_ok(center, run_again, center);
        WAIT_UNTIL_EQ(n_again, 11);
        CHECK(!has_run_inside);
        dn_center_unref(center);
}

static _Atomic bool is_over, has_ended;

static void go_on(void *argument)
{
        if (!is_over)
                enqueue_ok(argument, go_on, argument);
        else
                has_ended = true;
}

TEST_NO_BUS(endlessWorkDoesNotStarvePosts)
{
        enum { N_POSTS = 100 };
        dn_center *center = open_center("none"), *poster = open_center("none");
        tally seen = {0};
        dn_observer *observer = tally_observe_on(center, "x", &seen, dn_executor_inline());

        enqueue_ok(center, go_on, center);
        for (uint64_t i = 1; i <= N_POSTS; i++) {
                post_ok(poster, "x");
                WAIT_UNTIL_EQ(seen.n_posts, i);
        }
        is_over = true;
        WAIT_UNTIL(has_ended);
        tally_drop(observer);
        dn_center_unref(poster);
        dn_center_unref(center);
}

/* --- many threads ----------------------------------------------------------------------------- */

enum { N_THREADS = 8, N_WORKS = 2000 };

typedef struct source {
        pthread_t thread;
        dn_center *center;
        unsigned n_runs, n_wrong; /* used by the thread of the center */
} source;

static _Atomic unsigned n_all;

typedef struct numbered_work {
        source *source;
        unsigned number;
} numbered_work;

static void check_number(void *argument)
{
        numbered_work *work = argument;

        work->source->n_wrong += work->source->n_runs++ != work->number;
        free(work);
        n_all++;
}

static void *enqueue_many(void *argument)
{
        source *source = argument;

        for (unsigned i = 0; i < N_WORKS; i++) {
                numbered_work *work = malloc(sizeof *work);

                *work = (numbered_work){source, i};
                enqueue_ok(source->center, check_number, work);
        }
        return NULL;
}

TEST_NO_BUS(workOfManyThreadsRunsOnceAndInTheOrderOfEach)
{
        dn_center *center = open_center("none");
        source sources[N_THREADS] = {0};

        for (int i = 0; i < N_THREADS; i++) {
                sources[i].center = center;
                CHECK_EQ(pthread_create(&sources[i].thread, NULL, enqueue_many, &sources[i]), 0);
        }
        for (int i = 0; i < N_THREADS; i++)
                CHECK_EQ(pthread_join(sources[i].thread, NULL), 0);
        WAIT_UNTIL_EQ(n_all, N_THREADS * N_WORKS);
        for (int i = 0; i < N_THREADS; i++) {
                CHECK_EQ(sources[i].n_runs, N_WORKS);
                CHECK_EQ(sources[i].n_wrong, 0);
        }
        dn_center_unref(center);
}

/* --- the end ---------------------------------------------------------------------------------- */

TEST_NO_BUS(acceptedWorkRunsAfterTheCenterIsClosed)
{
        dn_center *center = open_center("none");

        block_thread(center);
        enqueue_number(center, 0);
        enqueue_number(center, 1);
        CHECK(!dn_center_unref(center));
        CHECK_EQ(n_noted, 0);
        blocks = false;
        WAIT_UNTIL_EQ(n_noted, 2);
}

static void count(void *argument)
{
        ++*(_Atomic unsigned *)argument;
}

TEST_NO_BUS(childRunsItsOwnWorkAndNotThatOfItsParent)
{
        static _Atomic unsigned n_of_parent, n_of_child;
        dn_center *center = dn_center_darwin();

        SKIP_IF(TEST_HAS_SANITIZER, "with a sanitizer a fork waits until the other threads rest");
        block_thread(center);
        enqueue_ok(center, count, &n_of_parent);
        pid_t pid = test_fork();
        if (pid == 0) {
                enqueue_ok(center, count, &n_of_child);
                WAIT_UNTIL_EQ(n_of_child, 1);
                CHECK_EQ(n_of_parent, 0);
                CHECK_EQ(dn_shutdown(), 0); /* the parent's work does not count here */
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        blocks = false;
        WAIT_UNTIL_EQ(n_of_parent, 1);
        CHECK_EQ(n_of_child, 0);
}

static _Atomic bool has_begun, is_exiting, has_returned;
static uint64_t began_us; /* to exit */

static void note_exit(void)
{
        began_us = test_now_us();
        is_exiting = true;
}

static void return_late(void *argument)
{
        has_begun = true;
        WAIT_UNTIL(is_exiting);
        test_let_pass_ms(50);
        has_returned = true;
}

static void fail_role(void *argument)
{
        _exit(1);
}

static void check_return(void)
{
        if (!has_returned)
                _exit(is_late(began_us) ? EXITED_LATE : 2);
}

ROLE(exitWhileWorkRunsAndWaits)
{
        CHECK_EQ(atexit(check_return), 0); /* runs after the library's */
        enqueue_ok(dn_center_darwin(), return_late, NULL);
        enqueue_ok(dn_center_darwin(), fail_role, NULL);
        CHECK_EQ(atexit(note_exit), 0);
        WAIT_UNTIL(has_begun);
        return 0;
}

TEST_NO_BUS(exitWaitsForRunningWorkAndStartsNoMore)
{
        int status;

        WAIT_UNTIL((status = test_child_wait(test_spawn_role("exitWhileWorkRunsAndWaits", NULL))) !=
                   EXITED_LATE);
        CHECK_EQ(status, 0);
}

static void *let_go(void *argument)
{
        test_let_pass_ms(50);
        blocks = false;
        return argument;
}

TEST_NO_BUS(shutdownWaitsForWorkAndTheCenterOpensAgain)
{
        static _Atomic unsigned n_runs;
        dn_center *center = open_center("none");
        pthread_t thread;

        for (unsigned i = 1; i <= 3; i++) {
                block_thread(center);
                enqueue_ok(center, count, &n_runs);
                CHECK_EQ(pthread_create(&thread, NULL, let_go, NULL), 0);
                CHECK_EQ(dn_shutdown(), 0);
                CHECK_EQ(n_runs, i);
                CHECK_EQ(pthread_join(thread, NULL), 0);
        }
        dn_center_unref(center);
}

TEST_NO_BUS(shutdownGivesUpOnWorkThatDoesNotEnd)
{
        dn_center *center = open_center("none");

        enqueue_ok(center, go_on, center);
        CHECK_EQ(dn_shutdown(), -EBUSY);
        is_over = true;
        WAIT_UNTIL(has_ended);
        CHECK_EQ(dn_shutdown(), 0);
        dn_center_unref(center);
}

static void shut_down_inside(void *argument)
{
        CHECK_EQ(dn_shutdown(), -EDEADLK);
        count(argument);
}

TEST_NO_BUS(workCannotShutTheLibraryDown)
{
        static _Atomic unsigned n_runs;

        enqueue_ok(dn_center_darwin(), shut_down_inside, &n_runs);
        WAIT_UNTIL_EQ(n_runs, 1);
}

TEST_MAIN()
