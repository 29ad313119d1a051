/* Which names tokens accept, and which tokens they reach. */
#include "notify-tally.h"
#include "roles.h"

#define LIMIT DN_NAME_MAX_BYTES

/* They look alike to a reader, a pattern, a rule or a careless encoder, yet all differ. */
static const char *const different[] = {
        "a.b",   "a.b.c",   "a.B",   "a.bc",   "a.",      "a",     "A",    "a'b",   "a\"b",
        "a,b",   "a b",     " ab",   "ab ",    "a\\b",    "a*b",   "*",    "a?b",   "a=b",
        "'",     "''",      ",",     "\\",     "a\nb",    "a\tb",  "a\001b", "a_b", "a_2eb",
        "a/b",   "/",       ".",     "..",     "a..b",    "%s%n",  "caf\xc3\xa9", "cafe\xcc\x81",
        "\xf0\x9f\x90\x9f", "type='signal',path='/'",     "arg0namespace='a'", "self", "user.uid",
};

#define N_DIFFERENT (sizeof different / sizeof *different)

/* Invalid names: empty, not UTF-8, surrogates, overlong forms, noncharacters. */
static const char *const malformed[] = {
        "",         "\xff",     "a\377b",    "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "a\xc3",    "\xe2\x82", "\xef\xbf\xbf", "\xef\xb7\x90"};

#define N_MALFORMED (sizeof malformed / sizeof *malformed)

/* Adds a token whose first check, which is always true, is done. */
static int add_checked(const char *name)
{
        int token = add_check(name);

        CHECK(is_changed(token));
        return token;
}

/* For each line, prints which of the names were posted since the last one, a digit each. */
ROLE(checkDifferent)
{
        int tokens[N_DIFFERENT];
        char line[16];

        for (size_t i = 0; i < N_DIFFERENT; i++)
                tokens[i] = add_checked(different[i]);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                for (size_t i = 0; i < N_DIFFERENT; i++)
                        putchar('0' + is_changed(tokens[i]));
                putchar('\n');
        }
        return 0;
}

TEST(oddNamesAreKeptApartInOtherProcesses)
{
        test_bus_begin();
        test_child *child = test_spawn_role("checkDifferent", NULL);
        char expected[N_DIFFERENT + 1] = "";

        CHECK_STREQ(test_child_read_line(child), "ready");
        for (size_t i = 0; i < N_DIFFERENT; i++) {
                memset(expected, '0', N_DIFFERENT);
                expected[i] = '1';
                CHECK_EQ(notify_post(different[i]), NOTIFY_STATUS_OK);
                CHECK_STREQ(test_child_ask(child, "which"), expected);
        }
        CHECK_EQ(test_child_wait(child), 0);
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
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        char long_name[LIMIT + 2] = "";
        test_signal before, after;
        unsigned n_fds;

        memset(long_name, 'n', LIMIT + 1);
        test_peer_watch(peer, TEST_WIRE_RULE);
        CHECK_EQ(notify_post("good"), NOTIFY_STATUS_OK);
        test_peer_next(peer, &before);
        n_fds = test_n_fds();
        check_refused(NULL);
        check_refused(long_name);
        for (size_t i = 0; i < N_MALFORMED; i++)
                check_refused(malformed[i]);
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
