/* Names that tokens refuse. Which names are kept apart is in post/test-name.c. */
#include "notify-tally.h"
#include "roles.h"

#define LIMIT DN_NAME_MAX_BYTES

/* Adds a token whose first check, which is always true, is done. */
static int add_checked(const char *name)
{
        int token = add_check(name);

        CHECK(is_changed(token));
        return token;
}

/* All refuse alike and write what their contract says. */
static void check_refused(const char *name)
{
        dn_token_handler handler = {.invoke = count_call};
        int token = 77, fd = 78;

        CHECK_EQ(notify_post(name), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(notify_simple_post(name), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(notify_register_plain(name, &token), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(notify_register_signal(name, SIGURG, &token), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(notify_register_file_descriptor(name, &fd, 0, &token),
                 NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(dn_notify_register_callback(name, handler, NULL, &token),
                 NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(token, 77);
        CHECK_EQ(fd, 78);
        CHECK_EQ(notify_register_check(name, &token), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(token, NOTIFY_TOKEN_INVALID);
}

TEST_ON_BUS(allFunctionsRefuseMalformedNames)
{
        test_peer *peer = test_peer_begin();
        char long_name[LIMIT + 2] = "";
        test_signal before, after;
        unsigned n_fds;

        memset(long_name, 'n', LIMIT + 1);
        CHECK_EQ(notify_post("good"), NOTIFY_STATUS_OK);
        test_peer_next(peer, &before);
        n_fds = test_n_fds();
        check_refused(NULL);
        check_refused(long_name);
        check_refused("");
        check_refused("\xff");
        CHECK_EQ(test_n_fds(), n_fds);
        CHECK_EQ(notify_post("good"), NOTIFY_STATUS_OK);
        test_peer_next(peer, &after); /* the very next one, on the same connection */
        CHECK_STREQ(after.name, "good");
        CHECK_STREQ(after.sender, before.sender);
}

TEST(postWithoutReceiversSucceeds)
{
        test_bus_begin();
        static tally seen = {0};

        for (int i = 0; i < 3; i++)
                CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
        int token = add_callback("N", &seen), checked = add_checked("N");
        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK(is_changed(checked));
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(checked), NOTIFY_STATUS_OK);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
        fence_executor();
        CHECK_EQ(seen.n_calls, 1);
}

TEST_MAIN()
