/* A callback on the thread that reads the bus, posting endlessly. */
#include "roles.h"
#include "tally.h"
#include "test-bus.h"

/* A bus reads some 90 000 posts from a full socket; on a busy machine, at a tenth of its speed. */

static _Atomic bool stop;
static tally endless;

static void post_again(const dn_event *event, void *context)
{
        tally_invoke(event, context);
        if (!stop)
                post_ok(event->center, event->name);
}

static test_bus *prepare(void)
{
        test_bus *bus = test_bus_begin();
        const dn_executor *executor = dn_executor_inline();
        dn_handler handler = {.invoke = post_again, .context = &endless};

        CHECK_EQ(dn_center_observe(dn_center_darwin(), "endless", &handler, executor, NULL), 0);
        return bus;
}

static void begin(void)
{
        post_ok(dn_center_darwin(), "endless");
        WAIT_UNTIL(endless.n_calls > 100);
}

static void end(void)
{
        uint64_t n_calls = endless.n_calls;

        WAIT_UNTIL(endless.n_calls > n_calls);
        stop = true;
}

TEST_ON_BUS(endlessPostsLeaveRoomForPostsOfOthers)
{
        const dn_executor *executor = dn_executor_inline();
        static tally on_service = {0}, on_delivery = {0};

        prepare();
        tally_observe_on(dn_center_darwin(), "other", &on_service, executor);
        tally_observe(dn_center_darwin(), "other", &on_delivery);
        begin();
        for (unsigned i = 1; i <= 3; i++) {
                post_elsewhere("other", 1, "return");
                WAIT_UNTIL_EQ(on_service.n_posts, i);
                WAIT_UNTIL_EQ(on_delivery.n_posts, i);
        }
        end();
}

TEST_ON_BUS(flushReturnsDespiteEndlessPosts)
{
        test_bus *bus = prepare();

        begin();
        test_bus_pause(bus);
        WAIT_UNTIL_EQ(dn_flush(0), -ETIMEDOUT);
        test_bus_resume(bus);
        for (int i = 0; i < 3; i++) {
                post_ok(dn_center_darwin(), "other");
                CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        }
        end();
}

TEST_MAIN()
