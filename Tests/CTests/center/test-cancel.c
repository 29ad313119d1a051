/* Host threads that are cancelled inside the library or exit in a callback. */
#include <notify.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define N_ROUNDS 100

/* The thread to be cancelled spends nearly all its time inside the library. */
static void *post_for_ever(void *argument)
{
        for (;; pthread_testcancel()) {
                (void)dn_center_post(dn_center_darwin(), "cancel.post", NULL, NULL, 0);
                (void)notify_post("cancel.notify");
        }
        return argument;
}

static void *register_for_ever(void *argument)
{
        dn_handler handler = {.invoke = tally_invoke, .context = argument};
        dn_observer *observer;
        int token;

        for (;; pthread_testcancel()) {
                observer = NULL;
                (void)dn_center_observe(dn_center_darwin(), "cancel.observe", handler, NULL,
                                        &observer);
                dn_observer_cancel(observer);
                (void)dn_observer_unref(observer);
                if (notify_register_check("cancel.check", &token) == NOTIFY_STATUS_OK)
                        (void)notify_cancel(token);
        }
        return NULL;
}

static void *flush_for_ever(void *argument)
{
        for (;; pthread_testcancel()) {
                (void)dn_center_post(dn_center_darwin(), "cancel.flush", NULL, NULL, 0);
                (void)dn_flush(1000000);
        }
        return argument;
}

static void *add_for_ever(void *argument)
{
        for (;; pthread_testcancel()) {
                (void)dn_center_add_observer(dn_center_darwin(), argument, tally_callback,
                                             "cancel.add", NULL, 0);
                (void)dn_center_remove_every_observer(dn_center_darwin(), argument);
        }
        return argument;
}

static void cancel_one_of_each(unsigned round)
{
        static void *(*const works[])(void *) = {post_for_ever, register_for_ever, flush_for_ever,
                                                 add_for_ever};
        static tally added;
        pthread_t threads[4];
        void *result;

        for (int i = 0; i < 4; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, works[i], &added), 0);
        /* A little later each round, so that every place is hit. */
        (void)usleep(round % 97 * 5);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(pthread_cancel(threads[i]), 0);
        for (int i = 0; i < 4; i++) {
                CHECK_EQ(pthread_join(threads[i], &result), 0);
                CHECK(result == PTHREAD_CANCELED);
        }
}

TEST(cancelledThreadsLeaveTheLibraryIntact)
{
        test_bus_begin();
        static tally seen = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "after", &seen);
        unsigned n_fds;

        if (TEST_HAS_SANITIZER && !TEST_HAS_THREAD_SANITIZER)
                SKIP("the address sanitizer does not clear the stack of a cancelled thread");
        cancel_one_of_each(0);
        n_fds = test_n_fds();
        for (unsigned i = 1; i < N_ROUNDS; i++)
                cancel_one_of_each(i);
        post_ok(dn_center_darwin(), "after");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        tally_drop(observer);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        WAIT_UNTIL(test_n_fds() <= n_fds + 1); /* one to watch the table, if it came late */
}

TEST_NO_BUS(cancellationStateOfTheCallerIsRestored)
{
        int state;

        CHECK_EQ(dn_center_post(dn_center_darwin(), "self.x", NULL, NULL, 0), 0);
        CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
        CHECK_EQ(state, PTHREAD_CANCEL_ENABLE);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "self.x", NULL, NULL, 0), 0);
        CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
        CHECK_EQ(state, PTHREAD_CANCEL_DISABLE);
}

/* --- threads that exit in a callback ---------------------------------------------------------- */

static void end_thread(const dn_event *event, void *context)
{
        (void)event;
        pthread_exit(context);
}

ROLE(endTheThreadInACallback)
{
        dn_center *center = strcmp(args[0], "local") == 0 ? dn_center_local()
                                                          : dn_center_darwin();
        dn_handler handler = {.invoke = end_thread};
        dn_observer *observer;

        dup2(STDOUT_FILENO, STDERR_FILENO);
        CHECK_EQ(dn_center_observe(center, "self.x", handler, NULL, &observer), 0);
        CHECK_EQ(dn_center_post(center, "self.x", NULL, NULL, 0), 0);
        pthread_exit(NULL); /* the callback ends the process if it runs on another thread */
}

static void check_abort(const char *center)
{
        test_child *child = test_spawn_role("endTheThreadInACallback", center, NULL);
        const char *line = test_child_read_line(child);

        CHECK(line && strstr(line, "a callback terminated its thread"));
        CHECK_EQ(test_child_wait(child), 128 + SIGABRT);
}

TEST_NO_BUS(callbackThatExitsALibraryThreadAbortsWithAMessage)
{
        check_abort("darwin");
}

TEST_NO_BUS(callbackThatExitsAHostThreadAbortsWithAMessage)
{
        check_abort("local");
}

/* --- the library's threads -------------------------------------------------------------------- */

static void cancel_own_thread(const dn_event *event, void *context)
{
        (void)pthread_cancel(pthread_self());
        pthread_testcancel();
        tally_invoke(event, context);
}

TEST_NO_BUS(libraryThreadsCannotBeCancelled)
{
        static tally seen = {0};
        dn_handler handler = {cancel_own_thread, &seen, tally_destroy};
        dn_observer *observer;

        CHECK_EQ(dn_center_observe(dn_center_darwin(), "self.x", handler, NULL, &observer), 0);
        post_ok(dn_center_darwin(), "self.x");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        post_ok(dn_center_darwin(), "self.x");
        WAIT_UNTIL_EQ(seen.n_calls, 2);
}

TEST_MAIN()
