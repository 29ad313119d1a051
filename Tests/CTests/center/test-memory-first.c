/* Out of memory at the first use of a process: each allocation fails once. */
#include <unistd.h>

#include "failing-thread.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define LACKED_MEMORY 3 /* an exit status */

static tally seen;

static void ignore_work(void *argument)
{
}

static int enqueue_first(void)
{
        return dn_center_enqueue(dn_center_darwin(), ignore_work, NULL);
}

static int observe_inline_first(void)
{
        return dn_center_observe(dn_center_darwin(), "N", TALLY_HANDLER(&seen),
                                 dn_executor_inline(), NULL);
}

static int set_executor_first(void)
{
        return dn_center_set_executor(dn_center_darwin(), dn_executor_inline());
}

static int open_first(void)
{
        dn_center *center = NULL;
        int r = dn_center_open("none", &center);

        if (r == 0)
                r = dn_center_is_on_bus(center);
        n_until_failure = -1;
        dn_center_unref(center);
        return r;
}

/* Repeats a call, failing its first, second, ... allocation, until it completes without a failure,
 * each time in a process that has not used the library before. */
static void fail_each_first(int (*call)(void))
{
        int status = LACKED_MEMORY;

        for (int n = 0; status != 0; n++) {
                pid_t child = test_fork();
                if (child == 0) {
                        n_until_failure = n;
                        int r = call();
                        n_until_failure = -1;
                        CHECK(r >= 0 || (has_failed && (r == -ENOMEM || r == -EAGAIN)));
                        _exit(has_failed ? LACKED_MEMORY : 0);
                }
                status = test_wait_for(child);
                CHECK(status == 0 || status == LACKED_MEMORY);
        }
}

TEST_NO_BUS(theFirstUseOfACenterSucceedsOrSaysWhyNot)
{
        require_failing_allocator();
        test_bus_use_none();
        fail_each_first(enqueue_first);
        fail_each_first(observe_inline_first);
        fail_each_first(set_executor_first);
        fail_each_first(open_first);
}

TEST_MAIN()
