/* Deliveries that are suspended for a while. */
#include "notify-tally.h"

#define N "suspend"

static void suspend(int token)
{
        CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_OK);
}

static void resume(int token)
{
        CHECK_EQ(notify_resume(token), NOTIFY_STATUS_OK);
}

static void check_calls(tally *seen, uint64_t n_calls)
{
        WAIT_UNTIL_EQ(seen->n_calls, n_calls);
        fence_executor();
        CHECK_EQ(seen->n_calls, n_calls);
}

static void check_nesting(const char *name)
{
        tally seen = {0}, other = {0};
        int token = add_callback(name, &seen), other_token = add_callback(name, &other);

        CHECK(is_changed(token));
        suspend(token);
        resume(token); /* nothing was posted meanwhile */
        check_calls(&seen, 0);
        suspend(token);
        suspend(token);
        for (uint64_t i = 1; i <= 3; i++) {
                post(name);
                check_calls(&other, i);
        }
        CHECK(is_changed(token)); /* it is polled, not notified */
        resume(token);
        check_calls(&seen, 0);
        resume(token);
        check_calls(&seen, 1);
        resume(token); /* an extra one has no effect on what follows */
        check_calls(&seen, 1);
        suspend(token);
        post(name);
        check_calls(&other, 4);
        check_calls(&seen, 1);
        resume(token);
        check_calls(&seen, 2);
        post(name);
        check_calls(&seen, 3);
        cancel(token);
        cancel(other_token);
        WAIT_UNTIL(seen.n_destroyed == 1 && other.n_destroyed == 1);
}

TEST(suspensionsAreCountedPerToken)
{
        test_bus_begin();

        check_nesting(N);
        check_nesting("self." N);
}

TEST(pendingCallIsHeldBack)
{
        test_bus_begin();
        static tally blocker = {.blocks = true}, seen = {0};

        add_callback("blocker", &blocker);
        int token = add_callback(N, &seen);
        post("blocker");
        WAIT_UNTIL_EQ(blocker.n_calls, 1);
        post(N);
        post(N);
        suspend(token);
        blocker.blocks = false;
        check_calls(&seen, 0);
        resume(token);
        check_calls(&seen, 1);
}

TEST(tokensWithoutDeliveryAreAccepted)
{
        test_bus_begin();
        int token = add_check(N);

        CHECK(is_changed(token));
        suspend(token);
        CHECK(!is_changed(token));
        post(N);
        CHECK(is_changed(token));
        resume(token);
        CHECK(!is_changed(token));
}

static void suspend_self(int token, void *context)
{
        suspend(token);
        ((tally *)context)->n_calls++;
}

TEST(callbackMaySuspendItself)
{
        test_bus_begin();
        static tally seen = {0};
        dn_token_handler handler = {.invoke = suspend_self, .context = &seen};
        int token;

        CHECK_EQ(dn_notify_register_callback(N, &handler, NULL, &token), NOTIFY_STATUS_OK);
        for (int i = 0; i < 10; i++)
                post(N);
        check_calls(&seen, 1);
        for (uint64_t i = 2; i <= 4; i++) {
                post(N);
                resume(token);
                check_calls(&seen, i);
        }
}

TEST_MAIN()
