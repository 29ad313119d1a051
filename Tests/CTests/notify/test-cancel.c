/* Tokens that were cancelled or never existed. */
#include <limits.h>

#include "notify-tally.h"

#define N "cancel"

TEST_NO_BUS(noNumberIsAValidTokenBeforeTheFirst)
{
        const int numbers[] = {-1, 0, 1, 2, INT_MAX, INT_MIN, 1 << 20};

        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
                check_invalid(numbers[i]);
}

TEST(cancelledTokensOfEveryKindAreInvalid)
{
        test_bus_begin();
        const char *names[] = {N, "self." N};

        for (int i = 0; i < 2 * N_KINDS; i++) {
                int token = add_kind(i / 2, names[i % 2]), next;
                cancel(token);
                check_invalid(token);
                next = add_kind(i / 2, names[i % 2]); /* possibly in the same entry */
                check_invalid(token);
                cancel(next);
        }
}

TEST(postInTransitDoesNotReachTheNextToken)
{
        test_bus_begin();
        static tally blocker = {.blocks = true};
        tally old = {0}, fresh = {0};

        add_callback("blocker", &blocker);
        post("blocker");
        WAIT_UNTIL_EQ(blocker.n_calls, 1);
        int token = add_callback(N, &old);
        post(N);
        cancel(token);
        int next = add_callback(N, &fresh);
        CHECK(next != token);
        blocker.blocks = false;
        WAIT_UNTIL_EQ(old.n_destroyed, 1);
        fence_executor();
        CHECK_EQ(old.n_calls, 0);
        CHECK_EQ(fresh.n_calls, 0);
        post(N);
        WAIT_UNTIL_EQ(fresh.n_calls, 1);
        CHECK_EQ(fresh.n_posts, next);
        cancel(next);
        WAIT_UNTIL_EQ(fresh.n_destroyed, 1);
}

/* Numbers that differ by this share the entries of the registry. */
#define N_ENTRIES 65536

TEST_NO_BUS(numberOfNoTokenIsInvalidThoughItsEntryIsTaken)
{
        int token, changed;

        CHECK_EQ(notify_register_check("self.x", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(token + N_ENTRIES), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_suspend(token + N_ENTRIES), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_check(token + N_ENTRIES, &changed), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK(!notify_is_valid_token(token + N_ENTRIES));
        CHECK_EQ(notify_check(token, &changed), NOTIFY_STATUS_OK);
}

TEST_NO_BUS(laterTokensNeverTakeTheEntryOfAnEarlierOne)
{
        int first, token, changed;

        CHECK_EQ(notify_register_check("self.x", &first), NOTIFY_STATUS_OK);
        for (int i = 0; i < N_ENTRIES + 8; i++) {
                CHECK_EQ(notify_register_check("self.y", &token), NOTIFY_STATUS_OK);
                CHECK((token - first) % N_ENTRIES != 0);
                CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        }
        CHECK_EQ(notify_check(first, &changed), NOTIFY_STATUS_OK);
}

#define N_MANY (3 * N_ENTRIES)

TEST_NO_BUS(aProcessCanHaveAnyNumberOfTokens)
{
        static int many[N_MANY];
        int changed;

        for (int i = 0; i < N_MANY; i++) {
                CHECK_EQ(notify_register_check("self.x", &many[i]), NOTIFY_STATUS_OK);
                CHECK(i == 0 || many[i] > many[i - 1]);
        }
        for (int i = 0; i < N_MANY; i++) {
                CHECK_EQ(notify_check(many[i], &changed), NOTIFY_STATUS_OK);
                CHECK(changed);
                if (i % 2)
                        CHECK_EQ(notify_cancel(many[i]), NOTIFY_STATUS_OK);
        }
        CHECK_EQ(notify_post("self.x"), NOTIFY_STATUS_OK);
        for (int i = 0; i < N_MANY; i++)
                CHECK(notify_is_valid_token(many[i]) ? is_changed(many[i]) : i % 2);
        CHECK_EQ(dn_shutdown(), 0); /* it cancels the tokens in all blocks */
        CHECK(!notify_is_valid_token(many[0]));
}

TEST_MAIN()
