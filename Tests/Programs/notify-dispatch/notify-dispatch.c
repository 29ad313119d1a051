/* What notify_register_dispatch() promises, found out on a bus: one line "ok NAME" for each point.
 *
 * The first point that does not hold ends the program with another status than 0. The main queue
 * comes last, since it takes the main thread for good. */
#include <notify.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test-bus.h"
#include "test.h"

#define N "com.example.dispatch"

static void pass(const char *name)
{
        printf("ok %s\n", name);
        fflush(stdout);
}

/* ---- queues and blocks that tell ------------------------------------------------------------- */

static test_bus *bus;
static char queue_key;
static int n_queues;
static _Atomic int n_queue_ends, n_block_ends;
static void *_Atomic block_ended_on;

static void count_queue_end(void *context)
{
        (void)context;
        n_queue_ends++;
}

static dispatch_queue_t make_queue(void)
{
        dispatch_queue_t queue = dispatch_queue_create("test", DISPATCH_QUEUE_SERIAL);

        CHECK(queue);
        n_queues++;
        dispatch_queue_set_specific(queue, &queue_key, queue, NULL);
        dispatch_set_context(queue, &queue_key); /* without one there is no finalizer */
        dispatch_set_finalizer_f(queue, count_queue_end);
        return queue;
}

static void run_nothing(void *context)
{
        (void)context;
}

/* Returns when all that the queue had before has run. */
static void drain(dispatch_queue_t queue)
{
        dispatch_sync_f(queue, NULL, run_nothing);
}

static void post(const char *name)
{
        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
}

static int add(dispatch_queue_t queue, notify_handler_t handler)
{
        int token = NOTIFY_TOKEN_INVALID;

        CHECK_EQ(notify_register_dispatch(N, &token, queue, handler), NOTIFY_STATUS_OK);
        CHECK(notify_is_valid_token(token));
        return token;
}

static void cancel(int token)
{
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK(!notify_is_valid_token(token));
}

/* ---- the points ------------------------------------------------------------------------------ */

static void check_refusals(void)
{
        dispatch_queue_t queue = make_queue();
        int token = 4711;

        CHECK(notify_register_dispatch(N, &token, NULL, ^(int ignored) { (void)ignored; }) ==
              NOTIFY_STATUS_NULL_INPUT);
        CHECK_EQ(notify_register_dispatch(N, &token, queue, NULL), NOTIFY_STATUS_NULL_INPUT);
        CHECK(notify_register_dispatch(N, NULL, queue, ^(int ignored) { (void)ignored; }) ==
              NOTIFY_STATUS_NULL_INPUT);
        CHECK(notify_register_dispatch(NULL, &token, queue, ^(int ignored) { (void)ignored; }) ==
              NOTIFY_STATUS_INVALID_NAME);
        CHECK(notify_register_dispatch("", &token, queue, ^(int ignored) { (void)ignored; }) ==
              NOTIFY_STATUS_INVALID_NAME);
        CHECK(token == 4711);
        dispatch_release(queue);
        WAIT_UNTIL_EQ(n_queue_ends, 1); /* the refusals have kept no reference */
        pass("refusals");
}

static void check_token_and_queue(void)
{
        static _Atomic int n_calls, seen_token;
        static void *_Atomic seen_queue;
        dispatch_queue_t queue = make_queue();
        int token = add(queue, ^(int called) {
                seen_token = called;
                seen_queue = dispatch_get_specific(&queue_key);
                n_calls++;
        });

        for (int i = 1; i <= 3; i++) {
                post(N);
                WAIT_UNTIL_EQ(n_calls, i);
                CHECK(seen_token == token);
                CHECK(seen_queue == queue);
        }
        cancel(token);
        dispatch_release(queue);
        pass("token and queue");
}

static void check_cancel_before_the_queue_runs(void)
{
        static _Atomic int n_calls, n_later_calls;
        dispatch_queue_t queue = make_queue(), other = make_queue();
        int token = add(queue, ^(int called) {
                (void)called;
                n_calls++;
        });
        int later = add(other, ^(int called) {
                (void)called;
                n_later_calls++;
        });

        dispatch_suspend(queue);
        for (int i = 0; i < 5; i++)
                post(N);
        WAIT_UNTIL_EQ(n_later_calls, 5); /* including the blocks of the first */
        cancel(token);
        cancel(later);
        dispatch_resume(queue);
        drain(queue);
        drain(queue);
        CHECK_EQ(n_calls, 0);
        dispatch_release(queue);
        dispatch_release(other);
        pass("cancel before the queue runs");
}

static void check_cancel_inside(void)
{
        static _Atomic int n_calls;
        dispatch_queue_t queue = make_queue();

        for (int i = 0; i < 10; i++)
                add(queue, ^(int called) {
                        n_calls++;
                        cancel(called);
                });
        for (int i = 0; i < 3; i++)
                post(N);
        WAIT_UNTIL_EQ(n_calls, 10);
        post(N);
        drain(queue);
        CHECK_EQ(n_calls, 10);
        dispatch_release(queue);
        pass("cancel inside");
}

/* A block as the compiler would make one that has captured something, laid out by hand after the
 * published layout: C has no objects that could tell of their end. */
typedef struct telling_block {
        void *class;
        int flags;
        int reserved;
        void (*invoke)(struct telling_block *self, int token);
        const struct telling_description *description;
} telling_block;

typedef struct telling_description {
        unsigned long reserved;
        unsigned long n_bytes;
        void (*copy)(void *copied, const void *original);
        void (*dispose)(const void *block);
} telling_description;

#define BLOCK_HAS_COPY_AND_DISPOSE (1 << 25)

static void telling_invoke(telling_block *self, int token)
{
        (void)self;
        (void)token;
}

static void telling_copy(void *copied, const void *original)
{
        (void)copied;
        (void)original;
}

static void telling_dispose(const void *block)
{
        (void)block;
        block_ended_on = dispatch_get_specific(&queue_key);
        n_block_ends++;
}

static const telling_description telling = {0, sizeof(telling_block), telling_copy,
                                            telling_dispose};

static void check_block_ends_on_its_queue(void)
{
        static _Atomic int n_early_ends, n_before;
        telling_block block = {_NSConcreteStackBlock, BLOCK_HAS_COPY_AND_DISPOSE, 0,
                               telling_invoke, &telling};
        dispatch_queue_t queue = make_queue();
        int token = add(queue, (notify_handler_t)(void *)&block);

        post(N);
        dispatch_suspend(queue);
        dispatch_async(queue, ^{
                n_early_ends = n_block_ends;
                n_before++;
        });
        cancel(token);
        CHECK_EQ(n_block_ends, 0);
        dispatch_resume(queue);
        WAIT_UNTIL_EQ(n_block_ends, 1);
        CHECK_EQ(n_before, 1);
        CHECK_EQ(n_early_ends, 0);
        CHECK(block_ended_on == queue);
        pass("block ends on its queue");
        WAIT_UNTIL_EQ(n_queue_ends, n_queues - 1); /* all but this, which the program still has */
        dispatch_release(queue);
        WAIT_UNTIL_EQ(n_queue_ends, n_queues);
        CHECK_EQ(n_block_ends, 1);
        pass("queues end");
}

/* Nothing but dispatch_main() has to run, which never returns. */
__attribute__((noreturn)) static void check_main_queue(void)
{
        dispatch_queue_set_specific(dispatch_get_main_queue(), &queue_key, &queue_key, NULL);
        add(dispatch_get_main_queue(), ^(int called) {
                CHECK(dispatch_get_specific(&queue_key) == &queue_key);
                cancel(called);
                pass("main queue");
                test_bus_stop(bus);
                exit(0);
        });
        post(N);
        alarm(TEST_DEADLINE_US / 1000000);
        dispatch_main();
}

int main(void)
{
        bus = test_bus_begin();
        check_refusals();
        check_token_and_queue();
        check_cancel_before_the_queue_runs();
        check_cancel_inside();
        check_block_ends_on_its_queue();
        check_main_queue();
}
