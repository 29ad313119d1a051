/* Calls of the library, which are counted and not interrupted, also in forked children. */
#include "util/gate.h"

#include <pthread.h>
#include <unistd.h>

#include "test-child.h"
#include "test.h"
#include "util/fork.h"

static _Atomic bool is_inside, may_leave;

static void *stay_inside(void *argument)
{
        DN__GATE();
        is_inside = true;
        WAIT_UNTIL(may_leave);
        return argument;
}

static void *stay_at_work(void *argument)
{
        DN__GATE_FOR_WORK();
        is_inside = true;
        stay_inside(NULL); /* part of the work */
        return argument;
}

static bool has_others(void)
{
        DN__GATE();
        return dn__gate_has_others(DN__GATE_CALL);
}

static bool has_work(void)
{
        return dn__gate_has_others(DN__GATE_WORK);
}

static pthread_t start_inside(void *(*stay)(void *))
{
        pthread_t thread;

        is_inside = may_leave = false;
        thread = test_start_thread(stay, NULL);
        WAIT_UNTIL(is_inside);
        return thread;
}

static void let_leave(pthread_t thread)
{
        may_leave = true;
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST_NO_BUS(callsOfOtherThreadsAreCounted)
{
        pthread_t thread = start_inside(stay_inside);

        CHECK(has_others() && !has_work());
        let_leave(thread);
        CHECK(!has_others());
        thread = start_inside(stay_at_work);
        CHECK(!has_others() && has_work());
        let_leave(thread);
        CHECK(!has_work());
}

TEST_NO_BUS(callsOfManyThreadsAreCountedOnce)
{
        enum { N_THREADS = 40 };
        pthread_t threads[N_THREADS];

        for (int i = 0; i < N_THREADS; i++)
                threads[i] = start_inside(stay_inside);
        CHECK(has_others());
        for (int i = 0; i < N_THREADS; i++)
                let_leave(threads[i]);
        CHECK(!has_others());
}

TEST_NO_BUS(whatTheHostHasToCloseCountsAsACall)
{
        dn__gate_keep(DN__GATE_CALL);
        CHECK(has_others());
        dn__gate_keep_no_more(DN__GATE_CALL);
        CHECK(!has_others());
}

TEST_NO_BUS(queuedWorkCountsAsWork)
{
        dn__gate_keep(DN__GATE_WORK);
        CHECK(!has_others());
        CHECK(dn__gate_has_others(DN__GATE_WORK));
        dn__gate_keep_no_more(DN__GATE_WORK);
        CHECK(!dn__gate_has_others(DN__GATE_WORK));
}

static void *be_cancelled_inside(void *argument)
{
        {
                DN__GATE();
                CHECK_EQ(pthread_cancel(pthread_self()), 0);
                pthread_testcancel();
                is_inside = true;
        }
        pthread_testcancel();
        may_leave = true;
        return argument;
}

TEST_NO_BUS(cancelledThreadFinishesItsCall)
{
        pthread_t thread = test_start_thread(be_cancelled_inside, NULL);
        void *result;

        CHECK_EQ(pthread_join(thread, &result), 0);
        CHECK(result == PTHREAD_CANCELED);
        CHECK(is_inside && !may_leave && !has_others());
}

/* The thread that was inside does not exist there. */
TEST_NO_BUS(forkedChildHasNoCallsOfOthers)
{
        pthread_t thread;
        pid_t pid;

        SKIP_IF(TEST_HAS_SANITIZER, "with a sanitizer a fork waits until the other threads rest");
        CHECK_EQ(dn__fork_init(), 0);
        thread = start_inside(stay_inside);
        pid = fork();
        if (pid == 0)
                _exit(has_others() ? 1 : 0);
        CHECK_EQ(test_wait_for(pid), 0);
        let_leave(thread);
}

TEST_NO_BUS(callThatForksIsCountedInEachProcess)
{
        pid_t pid;

        CHECK_EQ(dn__fork_init(), 0);
        {
                DN__GATE();
                pid = test_fork();
                CHECK(!has_others());
        }
        if (pid == 0)
                _exit(has_others() ? 1 : 0);
        CHECK_EQ(test_wait_for(pid), 0);
        CHECK(!has_others());
}

TEST_MAIN()
