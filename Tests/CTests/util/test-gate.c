/* Calls of the library in forked children. */
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

static void make_call(void)
{
        DN__GATE();
}

static bool try_to_close(void)
{
        DN__GATE();
        return dn__gate_close();
}

/* The thread that was inside does not exist there. */
TEST_NO_BUS(forkedChildHasAnOpenGateAndNoCallsOfOthers)
{
        pid_t pid;

        SKIP_IF(TEST_HAS_SANITIZER, "with a sanitizer a fork waits until the other threads rest");
        CHECK_EQ(dn__fork_init(), 0);
        pthread_t thread = test_start_thread(stay_inside, NULL);
        WAIT_UNTIL(is_inside);
        pid = fork();
        if (pid == 0) {
                make_call();
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
                DN__GATE();
                pid = test_fork();
                if (pid == 0)
                        make_call();
        }
        if (pid == 0)
                _exit(try_to_close() ? 0 : 1);
        CHECK_EQ(test_wait_for(pid), 0);
        CHECK(try_to_close());
        dn__gate_open();
}

TEST_MAIN()
