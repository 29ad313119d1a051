/* Results of the registration functions. */
#include <notify_keys.h>
#include <sys/resource.h>
#include <unistd.h>

#include "notify-tally.h"
#include "shm.h"

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

        CHECK_EQ(notify_post(NULL), NOTIFY_STATUS_INVALID_NAME);
        CHECK_EQ(notify_simple_post(NULL), NOTIFY_STATUS_INVALID_NAME);
        for (int kind = 0; kind < N_KINDS; kind++) {
                CHECK_EQ(try_kind(kind, NULL, &token), NOTIFY_STATUS_INVALID_NAME);
                CHECK_EQ(try_kind(kind, N, NULL), NOTIFY_STATUS_NULL_INPUT);
        }
        CHECK_EQ(notify_register_file_descriptor(N, NULL, 0, &token), NOTIFY_STATUS_INVALID_FILE);
        CHECK_EQ(notify_register_file_descriptor(N, &fd, 0, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(fd, UNTOUCHED);
}

/* Only one of them sets its output on failure. */
static void check_refusal(const char *name, uint32_t status)
{
        for (int kind = 0; kind < N_KINDS; kind++) {
                int token = UNTOUCHED;
                CHECK_EQ(try_kind(kind, name, &token), status);
                CHECK_EQ(token, kind == KIND_CHECK ? NOTIFY_TOKEN_INVALID : UNTOUCHED);
        }
}

TEST_NO_BUS(withoutABusAndATableEveryKindIsRefused)
{
        forbid_tables();
        check_refusal(N, NOTIFY_STATUS_SERVER_NOT_FOUND);
        CHECK_EQ(notify_post(N), NOTIFY_STATUS_SERVER_NOT_FOUND);
        CHECK_EQ(notify_simple_post(N), NOTIFY_STATUS_SERVER_NOT_FOUND);
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

TEST(applesSystemNamesCanBeRegistered)
{
        test_bus_begin();
        const char *names[] = {kNotifyDSCacheInvalidation, kNotifyVFSMount, kNotifyTimeZoneChange,
                               kNotifySCNetworkChange, kNotifyASLDBUpdate, kNotifyClockSet};

        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
                for (int kind = 0; kind < N_KINDS; kind++)
                        cancel(add_kind(kind, names[i]));
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
