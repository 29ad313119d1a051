/* Results of the registration functions. */
#include <sys/resource.h>

#include "notify-tally.h"

#define N "register"

TEST(tokensIncreaseAndAreNeverReused)
{
        test_bus_begin();
        int last = 0;

        for (int i = 0; i < 2000; i++) {
                int token = add_kind(i % N_KINDS, N);
                CHECK(token > last);
                CHECK(notify_is_valid_token(token));
                last = token;
                if (i % 3)
                        cancel(token);
        }
}

TEST(nullPointersAreReported)
{
        test_bus_begin();
        int token = UNTOUCHED, fd = UNTOUCHED;

        for (int kind = 0; kind < N_KINDS; kind++)
                CHECK_EQ(try_kind(kind, N, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(notify_register_file_descriptor(N, NULL, 0, &token), NOTIFY_STATUS_INVALID_FILE);
        CHECK_EQ(notify_register_file_descriptor(N, &fd, 0, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(fd, UNTOUCHED);

        token = add_check(N);
        CHECK_EQ(notify_check(token, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(notify_check(-1, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(notify_peek(token, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(notify_get_state(token, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK(is_changed(token)); /* not the first check of either */
}

static void check_refused(const char *name)
{
        CHECK_EQ(notify_post(name), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(notify_simple_post(name), NOTIFY_STATUS_INVALID_NAME);
        check_no_kind_registers(name, NOTIFY_STATUS_INVALID_NAME);
}

TEST_ON_BUS(allFunctionsRefuseMalformedNames)
{
        test_peer *peer = test_peer_begin();
        char long_name[DN_NAME_MAX_BYTES + 2] = "";
        test_signal before, after;
        unsigned n_fds;

        memset(long_name, 'n', DN_NAME_MAX_BYTES + 1);
        post("good");
        test_peer_next(peer, &before);
        n_fds = test_n_fds();
        check_refused(NULL);
        check_refused(long_name);
        check_refused("");
        check_refused("\xff");
        CHECK_EQ(test_n_fds(), n_fds);
        post("good");
        test_peer_next(peer, &after); /* the very next one, on the same connection */
        CHECK_STREQ(after.name, "good");
        CHECK_STREQ(after.sender, before.sender);
}

TEST(invalidSignalNumbersAreRefused)
{
        test_bus_begin();
        const int numbers[] = {0, -1, 32, 33, 65, 1000, INT32_MAX, INT32_MIN};

        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
                int token = UNTOUCHED;
                CHECK_EQ(notify_register_signal(N, numbers[i], &token),
                         NOTIFY_STATUS_INVALID_SIGNAL);
                CHECK_EQ(token, UNTOUCHED);
        }
}

TEST(exhaustedDescriptorsAreReported)
{
        test_bus_begin();
        struct rlimit limit, none = {0};
        int token = UNTOUCHED, fd = UNTOUCHED;

        cancel(add_kind(KIND_DESCRIPTOR, N)); /* everything the library opens only once */
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        none.rlim_max = limit.rlim_max;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        uint32_t status = notify_register_file_descriptor(N, &fd, 0, &token);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        CHECK_EQ(status, NOTIFY_STATUS_FAILED);
        CHECK_EQ(fd, UNTOUCHED);
        CHECK_EQ(token, UNTOUCHED);
        cancel(add_kind(KIND_DESCRIPTOR, N));
}

TEST(olderNameOfPostWorks)
{
        test_bus_begin();
        int token = add_check(N);

        CHECK(is_changed(token));
        CHECK_EQ(notify_simple_post(N), NOTIFY_STATUS_OK);
        CHECK(is_changed(token));
}

TEST_MAIN()
