/* A carrier through the table is closed while the loop that sleeps for it ends. */
#include "shm.h"
#include "util/loop.h"
#include "util/thread.h"

static void wake_late(dn__loop *loop);

/* The code of the carrier, which calls the function above. */
#define dn__direct_get_loop late_get_loop
#define dn__direct_is_allowed late_is_allowed
#define dn__direct_new late_new
#define dn__direct_set_region late_set_region
#define dn__loop_wake wake_late
#include "direct/direct.c"
#undef dn__loop_wake

static dn__loop *shared_loop;
static _Atomic unsigned n_loops_closed, n_carriers_closed;

static void count_close(void *context)
{
        ++*(_Atomic unsigned *)context;
}

/* The word was taken away from the loop, whose thread ends if nothing keeps it. */
static void wake_late(dn__loop *loop)
{
        CHECK(loop == shared_loop);
        (void)dn__loop_close(loop);
        WAIT_UNTIL(test_others_rest());
        CHECK_EQ(n_loops_closed, 0);
        dn__loop_wake(loop);
}

static dn__loop *get_shared_loop(void)
{
        return shared_loop;
}

static uint64_t ignore_post(void *context, const dn__post *post)
{
        return 0;
}

static void ignore_loss(void *context)
{
}

TEST_NO_BUS(aLoopThatSleepsForACarrierStaysUntilItIsWokenForTheLastTime)
{
        static const dn__sink sink = {
                .received = ignore_post, .may_have_missed = ignore_loss, .closed = count_close
        };
        AUTO_REGION *region = open_region("key");
        _Atomic(dn__region *) table = region;
        dn__loop_options options = {
                .thread_name = "dn-test", .closed = count_close,
                .context = (void *)&n_loops_closed
        };
        dn__carrier *carrier = NULL;

        CHECK_EQ(dn__loop_new(&options, &shared_loop), 0);
        CHECK_EQ(dn__direct_new(&(dn__direct_options){&sink, (void *)&n_carriers_closed, &table,
                                                      get_shared_loop},
                                &carrier),
                 0);
        dn__direct_set_region(carrier, region);
        CHECK_EQ(carrier->ops->start(carrier, NULL), 0);
        carrier->ops->close(carrier);
        WAIT_UNTIL_EQ(n_loops_closed, 1);
        WAIT_UNTIL_EQ(n_carriers_closed, 1);
        dn__carrier_free(carrier);
        dn__thread_join_all();
}

TEST_MAIN()
