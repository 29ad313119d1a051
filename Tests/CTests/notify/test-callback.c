/* The contract of a callback registered with a token. */
#include <pthread.h>
#include <unistd.h>

#include "executors.h"
#include "notify-tally.h"
#include "shm.h"

#define N "callback"

/* The context is consumed, the executor is not kept, and nothing else is touched. */
static void check_failure(const char *name, dn_token_handler handler, dn_executor executor,
                          bool has_output, uint32_t status)
{
        static tally seen;
        int token = UNTOUCHED;

        seen.n_destroyed = 0;
        handler.context = &seen;
        CHECK_EQ(dn_notify_register_callback(name, &handler, &executor, has_output ? &token : NULL),
                 status);
        CHECK_EQ(token, UNTOUCHED);
        CHECK_EQ(seen.n_destroyed, 1);
        CHECK_EQ(n_executors_retained, 0);
        CHECK_EQ(seen.n_calls, 0);
}

TEST(everyFailureConsumesTheContextButNotTheExecutor)
{
        test_bus_begin();
        dn_executor executor = refusing_executor();
        dn_executor without = {.retain = retain_executor, .release = release_executor};
        dn_token_handler handler = {.invoke = count_call, .destroy = tally_destroy};
        dn_token_handler empty = {.destroy = tally_destroy};
        dn_token_handler later = {.invoke = count_call, .destroy = tally_destroy, .reserved = {1}};
        uid_t own = geteuid();

        post(N); /* connects */
        check_failure(N, handler, executor, false, NOTIFY_STATUS_NULL_INPUT);
        check_failure(N, empty, executor, true, NOTIFY_STATUS_NULL_INPUT);
        check_failure(N, later, executor, true, NOTIFY_STATUS_FAILED);
        check_failure(N, handler, without, true, NOTIFY_STATUS_NULL_INPUT);
        check_failure(NULL, handler, executor, true, NOTIFY_STATUS_INVALID_NAME);
        check_failure("", handler, executor, true, NOTIFY_STATUS_INVALID_NAME);
        notify_set_options(NOTIFY_OPT_DISABLE);
        check_failure(N, handler, executor, true, NOTIFY_STATUS_OPT_DISABLE);
        notify_set_options(NOTIFY_OPT_ENABLE);
        if (own == 0)
                CHECK_EQ(seteuid(65534), 0);
        check_failure("user.uid.0", handler, executor, true, NOTIFY_STATUS_NOT_AUTHORIZED);
        CHECK_EQ(seteuid(own), 0);
}

TEST_NO_BUS(neitherBusNorTableConsumesTheContextAndKeepsNoExecutor)
{
        dn_executor executor = refusing_executor();
        dn_token_handler handler = {.invoke = count_call, .destroy = tally_destroy};

        forbid_tables();
        check_failure(N, handler, executor, true, NOTIFY_STATUS_SERVER_NOT_FOUND);
}

static void cancel_self(int token, void *context)
{
        tally *self = context;

        self->n_calls++;
        CHECK(notify_is_valid_token(token));
        cancel(token);
        CHECK(!notify_is_valid_token(token));
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(self->n_destroyed, 0);
}

static void check_self_cancellation(const dn_executor *executor)
{
        tally seen[10] = {0};
        int token;

        for (int i = 0; i < 10; i++) {
                dn_token_handler handler = {.invoke = cancel_self, .context = &seen[i],
                                            .destroy = tally_destroy};
                CHECK_EQ(dn_notify_register_callback(N, &handler, executor, &token),
                         NOTIFY_STATUS_OK);
        }
        for (int i = 0; i < 3; i++)
                post(N);
        for (int i = 0; i < 10; i++)
                WAIT_UNTIL_EQ(seen[i].n_destroyed, 1);
        fence_executor();
        for (int i = 0; i < 10; i++)
                CHECK_EQ(seen[i].n_calls, 1);
}

TEST(callbacksMayCancelThemselves)
{
        test_bus_begin();
        check_self_cancellation(NULL);
        check_self_cancellation(dn_executor_inline());
}

static int first_token;

static void compare_token(int token, void *context)
{
        CHECK_EQ(token, first_token);
        ((tally *)context)->n_calls++;
}

static _Atomic bool stops;

static void *keep_posting(void *argument)
{
        while (!stops)
                post(N);
        return NULL;
}

TEST(tokenIsSetBeforeTheFirstCall)
{
        test_bus_begin();

        pthread_t thread = test_start_thread(keep_posting, NULL);
        for (int i = 0; i < 200; i++) {
                tally seen = {0};
                dn_token_handler handler = {.invoke = compare_token, .context = &seen,
                                            .destroy = tally_destroy};
                first_token = UNTOUCHED;
                CHECK_EQ(dn_notify_register_callback(N, &handler, NULL, &first_token),
                         NOTIFY_STATUS_OK);
                WAIT_UNTIL(seen.n_calls > 0);
                cancel(first_token);
                WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        }
        stops = true;
        pthread_join(thread, NULL);
}

TEST_MAIN()
