/* All functions on many threads at once. */
#include <pthread.h>

#include "piped.h"

#define N "threads"
#define N_THREADS 8
#define N_ROUNDS (TEST_HAS_SANITIZER ? 100 : 500)

static _Atomic unsigned n_created, n_destroyed;
static int shared_tokens[N_THREADS];

static void count_end(void *context)
{
        n_destroyed++;
}

static void run_threads(void *(*run)(void *))
{
        pthread_t threads[N_THREADS];

        for (intptr_t i = 0; i < N_THREADS; i++)
                threads[i] = test_start_thread(run, (void *)i);
        for (int i = 0; i < N_THREADS; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

/* What a thread of the library is still delivering is released before exit() begins: afterwards it
 * stays, and the leak sanitizer would report it. */
static void finish_deliveries(void)
{
        CHECK_EQ(dn_shutdown(), 0);
}

static void use(int token)
{
        is_changed(token);
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_OK);
        (void)get_state(token);
        CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_OK);
        post(N);
        CHECK_EQ(notify_resume(token), NOTIFY_STATUS_OK);
        CHECK(notify_is_valid_token(token));
        cancel(token);
        CHECK(!notify_is_valid_token(token));
}

static void *register_use_cancel(void *argument)
{
        for (int i = 0; i < N_ROUNDS; i++) {
                dn_token_handler handler = {.invoke = do_nothing, .destroy = count_end};
                int token;

                CHECK_EQ(dn_notify_register_callback(N, &handler, NULL, &token), NOTIFY_STATUS_OK);
                n_created++;
                use(token);
                use(add_kind((i + (int)(intptr_t)argument) % N_KINDS, N));
        }
        return NULL;
}

TEST(oneNameCanBeRegisteredAndCancelledOnAllThreads)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("testPeer", NULL);
        static tally seen = {0};

        run_threads(register_use_cancel);
        WAIT_UNTIL_EQ(n_destroyed, n_created);
        add_callback(N, &seen);
        let_post(poster, N);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        fence_executor();
        CHECK_EQ(n_destroyed, n_created);
        test_child_wait(poster);
}

/* Another thread may cancel a token at any moment: only one of them succeeds. */
static _Atomic unsigned n_cancelled;
static pthread_barrier_t barrier;

static void *cancel_all(void *argument)
{
        for (int round = 0; round < N_ROUNDS; round++) {
                if (argument == NULL)
                        for (int i = 0; i < N_THREADS; i++)
                                shared_tokens[i] = add_kind(i % N_KINDS, N);
                pthread_barrier_wait(&barrier);
                for (int i = 0; i < N_THREADS; i++) {
                        int changed;
                        uint32_t status = notify_check(shared_tokens[i], &changed);
                        CHECK(status == NOTIFY_STATUS_OK || status == NOTIFY_STATUS_INVALID_TOKEN);
                        notify_post(N);
                        notify_suspend(shared_tokens[i]);
                        notify_resume(shared_tokens[i]);
                        if (notify_cancel(shared_tokens[i]) == NOTIFY_STATUS_OK)
                                n_cancelled++;
                        CHECK_EQ(notify_check(shared_tokens[i], &changed),
                                 NOTIFY_STATUS_INVALID_TOKEN);
                }
                pthread_barrier_wait(&barrier);
        }
        return NULL;
}

TEST(oneOfManyCancellationsSucceeds)
{
        test_bus_begin();

        CHECK_EQ(pthread_barrier_init(&barrier, NULL, N_THREADS), 0);
        run_threads(cancel_all);
        CHECK_EQ(n_cancelled, N_ROUNDS * N_THREADS);
        finish_deliveries();
}

static int checked_token;
static _Atomic unsigned n_changes;

static void *check_and_post(void *argument)
{
        bool posts = (intptr_t)argument % 2;

        for (int i = 0; i < 20 * N_ROUNDS; i++) {
                if (posts)
                        post(N);
                else
                        n_changes += is_changed(checked_token);
        }
        return NULL;
}

/* The last post is never lost, and no post is seen twice. */
TEST(checksOfOneTokenOnManyThreadsSeeEveryChangeOnce)
{
        test_bus_begin();

        checked_token = add_check(N);
        CHECK(is_changed(checked_token));
        run_threads(check_and_post);
        n_changes += is_changed(checked_token);
        CHECK(!is_changed(checked_token));
        CHECK(n_changes >= 1);
        CHECK(n_changes <= 20 * N_ROUNDS * N_THREADS / 2);
}

static void *add_and_remove_pipes(void *argument)
{
        for (int i = 0; i < N_ROUNDS; i++) {
                int fd = UNTOUCHED, first = add_piped(N, &fd), second = add_sharing(N, fd);

                post(N);
                cancel(first);
                cancel(second);
        }
        return NULL;
}

TEST(concurrentDescriptorsAreNotMixedUp)
{
        test_bus_begin();

        cancel(add_kind(KIND_DESCRIPTOR, N));
        unsigned n_fds = test_n_fds();
        run_threads(add_and_remove_pipes);
        WAIT_UNTIL(test_n_fds() <= n_fds + 1); /* one to watch over the table, if it came late */
        finish_deliveries();
}

/* Numbers are consecutive, so the next ones can be guessed. */
static _Atomic int last_token;
static _Atomic bool is_over;

static void *cancel_guessed(void *argument)
{
        while (!is_over)
                for (int i = 0; i < 4; i++)
                        (void)notify_cancel(last_token + i);
        return NULL;
}

static void register_counted(const char *name, int kind, int *ret_token)
{
        dn_token_handler handler = {.invoke = do_nothing, .destroy = count_end};

        if (kind != KIND_CALLBACK) {
                *ret_token = add_kind(kind, name);
                return;
        }
        CHECK_EQ(dn_notify_register_callback(name, &handler, NULL, ret_token), NOTIFY_STATUS_OK);
        n_created++;
}

static void register_all_kinds(const char *name, int n_rounds)
{
        for (int i = 0; i < n_rounds; i++) {
                int token;

                register_counted(name, i % N_KINDS, &token);
                last_token = token;
                (void)notify_cancel(token);
        }
}

TEST(tokensMayBeCancelledDuringRegistration)
{
        test_bus_begin();
        pthread_t guessing[2];

        for (int i = 0; i < 2; i++)
                guessing[i] = test_start_thread(cancel_guessed, NULL);
        register_all_kinds("self." N, 20 * N_ROUNDS);
        register_all_kinds(N, 2 * N_ROUNDS);
        is_over = true;
        for (int i = 0; i < 2; i++)
                CHECK_EQ(pthread_join(guessing[i], NULL), 0);
        WAIT_UNTIL_EQ(n_destroyed, n_created);
        CHECK(!notify_is_valid_token(last_token));
}

TEST_MAIN()
