/* Calls of the library, and the gate that they pass. */
#include "util/call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "test-child.h"
#include "test.h"
#include "util/fork.h"

static _Atomic bool is_inside, may_leave;
static _Atomic unsigned n_calls;

static void *stay_inside(void *argument)
{
        DN__CALL();
        is_inside = true;
        WAIT_UNTIL(may_leave);
        return argument;
}

static void *call_once(void *argument)
{
        DN__CALL();
        n_calls++;
        return argument;
}

static pthread_t start(void *(*run)(void *argument))
{
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
        return thread;
}

static bool try_to_close(void)
{
        DN__CALL();
        return dn__call_close_gate();
}

TEST_NO_BUS(gateStaysOpenWhileACallIsRunning)
{
        pthread_t thread;

        CHECK_EQ(dn__fork_init(), 0);
        thread = start(stay_inside);
        WAIT_UNTIL(is_inside);
        CHECK(!try_to_close());
        call_once(NULL);
        CHECK_EQ(n_calls, 1);
        may_leave = true;
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK(try_to_close());
        dn__call_open_gate();
}

TEST_NO_BUS(callsWaitAtTheClosedGate)
{
        pthread_t thread;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK(try_to_close());
        thread = start(call_once);
        test_let_pass_ms(50);
        CHECK_EQ(n_calls, 0);
        dn__call_open_gate();
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(n_calls, 1);
}

TEST_NO_BUS(callsInsideACallPassTheGateThatItHasClosed)
{
        CHECK_EQ(dn__fork_init(), 0);
        DN__CALL();
        CHECK(dn__call_is_inside());
        CHECK(dn__call_close_gate());
        call_once(NULL);
        CHECK_EQ(n_calls, 1);
        dn__call_open_gate();
}

/* The thread that was inside does not exist there. */
TEST_NO_BUS(forkedChildHasAnOpenGateAndNoCallsOfOthers)
{
        pthread_t thread;
        pid_t pid;

        if (TEST_HAS_SANITIZER)
                SKIP("with a sanitizer a fork waits until the other threads rest");
        CHECK_EQ(dn__fork_init(), 0);
        thread = start(stay_inside);
        WAIT_UNTIL(is_inside);
        pid = fork();
        if (pid == 0) {
                call_once(NULL);
                _exit(try_to_close() ? 0 : 1);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        may_leave = true;
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST_NO_BUS(callThatForksIsCountedInTheParentAlone)
{
        pid_t pid;

        CHECK_EQ(dn__fork_init(), 0);
        {
                DN__CALL();
                pid = test_fork();
                if (pid == 0)
                        call_once(NULL);
        }
        if (pid == 0)
                _exit(try_to_close() ? 0 : 1);
        CHECK_EQ(test_wait_for(pid), 0);
        CHECK(try_to_close());
        dn__call_open_gate();
}

TEST_MAIN()
