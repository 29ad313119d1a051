/* Host threads that are cancelled inside the library or exit in a callback. */
#include <notify.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define N_ROUNDS 100

static void post(tally *seen)
{
        (void)dn_center_post(dn_center_darwin(), "cancel.post", NULL, NULL, 0);
        (void)notify_post("cancel.notify");
}

static void flush(tally *seen)
{
        post(seen);
        (void)dn_flush(1000000);
}

static void register_and_cancel(tally *seen)
{
        dn_handler handler = {.invoke = tally_invoke, .context = seen};
        dn_observer *observer = NULL;
        int token;

        (void)dn_center_observe(dn_center_darwin(), "cancel.observe", &handler, NULL, &observer);
        tally_drop(observer);
        if (notify_register_check("cancel.check", &token) == NOTIFY_STATUS_OK)
                (void)notify_cancel(token);
}

static void add_and_remove(tally *seen)
{
        (void)dn_center_add_observer(dn_center_darwin(), seen, tally_callback, "cancel.add", NULL,
                                     0);
        (void)dn_center_remove_every_observer(dn_center_darwin(), seen);
}

static void (*const works[])(tally *seen) = {post, flush, register_and_cancel, add_and_remove};

/* The thread to be cancelled spends nearly all its time inside the library. */
static void *work_for_ever(void *work)
{
        static tally seen;

        for (;; pthread_testcancel())
                (*(void (*const *)(tally *seen))work)(&seen);
        return NULL;
}

static void cancel_one_of_each(unsigned round)
{
        pthread_t threads[4];
        void *result;

        for (int i = 0; i < 4; i++)
                threads[i] = test_start_thread(work_for_ever, (void *)&works[i]);
        /* A little later each round, so that every point in the calls is hit. */
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
        pthread_exit(context);
}

ROLE(endTheThreadInACallback)
{
        dn_center *center = strcmp(args[0], "local") == 0 ? dn_center_local()
                                                          : dn_center_darwin();

        dup2(STDOUT_FILENO, STDERR_FILENO);
        observe_ok(center, "self.x", &(dn_handler){.invoke = end_thread}, NULL);
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

TEST_NO_BUS(callbackThatExitsItsThreadAbortsWithAMessage)
{
        check_abort("darwin"); /* a thread of the library */
        check_abort("local");  /* one of the host */
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
        dn_handler handler = {.invoke = cancel_own_thread, .context = &seen,
                              .destroy = tally_destroy};

        observe_ok(dn_center_darwin(), "self.x", &handler, NULL);
        for (unsigned i = 1; i <= 2; i++) {
                post_ok(dn_center_darwin(), "self.x");
                WAIT_UNTIL_EQ(seen.n_calls, i);
        }
}

TEST_MAIN()
