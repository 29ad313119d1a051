/* Library-wide options and queries. */
#include <unistd.h>

#include "notify-tally.h"

#define N "options"

static void check_disabled(int token)
{
        uint64_t state = UNTOUCHED;
        uint32_t value;

        CHECK_EQ(notify_post(N), NOTIFY_STATUS_OPT_DISABLE);
        CHECK_EQ(notify_simple_post(N), NOTIFY_STATUS_OPT_DISABLE);
        check_no_kind_registers(N, NOTIFY_STATUS_OPT_DISABLE);
        CHECK_EQ(notify_set_state(token, 2), NOTIFY_STATUS_OPT_DISABLE);
        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OPT_DISABLE);
        CHECK_EQ(state, UNTOUCHED);
        CHECK(notify_is_valid_token(token));
        CHECK(!is_changed(token));
        CHECK_EQ(notify_peek(token, &value), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_resume(token), NOTIFY_STATUS_OK);
}

TEST(disabledLibraryRefusesAndKeepsItsTokens)
{
        test_bus_begin();
        static tally seen = {0};
        int token = add_check(N), extra = add_check(N);

        add_callback(N, &seen);
        CHECK(is_changed(token));
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_OK);
        for (uint64_t i = 1; i <= 3; i++) {
                notify_set_options(NOTIFY_OPT_DISABLE);
                check_disabled(token);
                notify_set_options(NOTIFY_OPT_DISPATCH | NOTIFY_OPT_REGEN); /* without effect */
                CHECK_EQ(notify_post(N), NOTIFY_STATUS_OPT_DISABLE);
                notify_set_options(NOTIFY_OPT_ENABLE);
                CHECK(!is_changed(token));
                CHECK_EQ(get_state(token), 1);
                post(N);
                CHECK(is_changed(token));
                WAIT_UNTIL_EQ(seen.n_calls, i);
        }
        notify_set_options(NOTIFY_OPT_DISABLE);
        cancel(extra);
}

TEST(disabledLibraryDeliversThePostsOfOthers)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("testPeer", NULL);
        static tally seen = {0};
        int token = add_callback(N, &seen);

        CHECK(is_changed(token));
        notify_set_options(NOTIFY_OPT_DISABLE);
        let_post(poster, N);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK(is_changed(token));
        test_child_wait(poster);
}

TEST_NO_BUS(disabledLibraryServesSelfNames)
{
        static tally seen = {0};

        notify_set_options(NOTIFY_OPT_DISABLE);
        for (int kind = 0; kind < N_KINDS; kind++) {
                int token = add_kind(kind, "self.x");
                CHECK(is_changed(token));
                CHECK_EQ(notify_set_state(token, 3), NOTIFY_STATUS_OK);
                CHECK_EQ(get_state(token), 3);
                cancel(token);
        }
        add_callback("self.x", &seen);
        post("self.x");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

TEST_NO_BUS(thereAreNoEventsAndProcessesCannotBeSuspended)
{
        char text[] = "text";
        int event = UNTOUCHED, length = UNTOUCHED;

        CHECK_EQ(notify_get_event(-1, &event, text, &length), NOTIFY_STATUS_OK);
        CHECK_EQ(event, 0);
        CHECK_EQ(length, 0);
        CHECK_STREQ(text, "text");
        CHECK_EQ(notify_get_event(0, NULL, NULL, NULL), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_suspend_pid(getpid()), NOTIFY_STATUS_INVALID_REQUEST);
        CHECK_EQ(notify_resume_pid(getpid()), NOTIFY_STATUS_INVALID_REQUEST);
        CHECK_EQ(notify_suspend_pid(-1), NOTIFY_STATUS_INVALID_REQUEST);
}

TEST_NO_BUS(noDaemonWritesItsStatus)
{
        CHECK_EQ(notify_dump_status("/dev/null"), NOTIFY_STATUS_INVALID_REQUEST);
        CHECK_EQ(notify_dump_status(NULL), NOTIFY_STATUS_INVALID_REQUEST);
}

TEST_MAIN()
