/* The contract of observer.h, point by point, on the Darwin center. */
#include <pthread.h>
#include <stdlib.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define N "contract"

/* 2: destroyed exactly once, after the last invocation. */

TEST(contextIsDestroyedOnceWhenTheObserverIsCancelled)
{
        test_bus_begin();
        static tally seen = {0}, unreferenced = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), N, &seen);
        dn_observer *other = tally_observe(dn_center_darwin(), N, &unreferenced);

        CHECK(dn_observer_ref(other) == other);
        CHECK(!dn_observer_unref(other));
        CHECK(!dn_observer_unref(other));
        post_ok(dn_center_darwin(), N);
        WAIT_UNTIL(seen.n_calls == 1 && unreferenced.n_calls == 1);
        dn_observer_cancel(observer);
        dn_observer_cancel(observer);
        dn_observer_cancel_wait(observer);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        dn_observer_unref(observer);
        fence_executor();
        CHECK_EQ(seen.n_destroyed, 1);
        CHECK_EQ(unreferenced.n_destroyed, 0);
}

/* 3: both hooks may call any function, including cancelling their own observer. */

static _Atomic unsigned n_calls, n_destroyed;

typedef struct self_canceller {
        dn_observer *observer;
        void (*cancel)(dn_observer *observer);
} self_canceller;

static void cancel_self(const dn_event *event, void *context)
{
        self_canceller *self = context;

        n_calls++;
        self->cancel(self->observer);
        CHECK_EQ(n_destroyed, 0); /* this very call has not returned */
}

static void free_self(void *context)
{
        self_canceller *self = context;

        n_destroyed++;
        dn_observer_unref(self->observer);
        free(self);
}

static void check_cancel_inside(void (*cancel)(dn_observer *observer), const dn_executor *executor)
{
        self_canceller *self = calloc(1, sizeof *self);
        dn_handler handler = {.invoke = cancel_self, .context = self, .destroy = free_self};

        n_calls = n_destroyed = 0;
        self->cancel = cancel;
        self->observer = observe_ok(dn_center_darwin(), N, &handler, executor);
        post_ok(dn_center_darwin(), N);
        post_ok(dn_center_darwin(), N);
        WAIT_UNTIL_EQ(n_destroyed, 1);
        fence_executor();
        CHECK_EQ(n_calls, 1);
        CHECK_EQ(n_destroyed, 1);
}

TEST(observerMayCancelAndFreeItselfInItsCallback)
{
        test_bus_begin();
        const dn_executor *inline_executor = dn_executor_inline();

        check_cancel_inside(dn_observer_cancel, NULL);
        check_cancel_inside(dn_observer_cancel_wait, NULL);
        check_cancel_inside(dn_observer_cancel, inline_executor);
        check_cancel_inside(dn_observer_cancel_wait, inline_executor);
}

static void call_everything(void *context)
{
        tally *self = context;
        tally inner = {0};
        dn_center *center = dn_center_darwin();
        dn_observer *observer = tally_observe(center, "inner", &inner);

        CHECK_EQ(dn_center_post(center, "other", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_post(dn_center_local(), "other", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_add_observer(center, self, tally_callback, "other2", NULL, 0), 0);
        CHECK_EQ(dn_center_remove_every_observer(center, self), 0);
        int r = dn_flush(0);
        CHECK(r == 0 || r == -ETIMEDOUT);
        dn_observer_cancel_wait(observer);
        dn_observer_unref(observer);
        self->n_calls++;
}

static void call_everything_on_event(const dn_event *event, void *context)
{
        call_everything(context);
}

TEST(bothHooksMayCallAnyFunction)
{
        test_bus_begin();
        const dn_executor *executors[] = {dn_executor_delivery_thread(), dn_executor_inline()};
        static tally seen = {0};

        for (unsigned i = 0; i < 2; i++) {
                dn_handler handler = {.invoke = call_everything_on_event,
                                      .context = &seen,
                                      .destroy = call_everything};
                dn_observer *observer = observe_ok(dn_center_darwin(), N, &handler, executors[i]);
                post_ok(dn_center_darwin(), N);
                WAIT_UNTIL_EQ(seen.n_calls, 2 * i + 1);
                tally_drop(observer);
                WAIT_UNTIL_EQ(seen.n_calls, 2 * i + 2);
        }
}

/* 4: no overlap, registration order. */

static _Atomic int n_inside, n_entered;

static void check_alone(const dn_event *event, void *context)
{
        CHECK_EQ(++n_inside, 1);
        n_entered += (int)event->n_posts;
        n_inside--;
        if (n_entered < 100)
                post_ok(event->center, event->name);
        CHECK_EQ(n_inside, 0); /* that post did not call back in here */
}

TEST(postInsideACallbackDoesNotReenterIt)
{
        test_bus_begin();
        const dn_executor *executors[] = {dn_executor_delivery_thread(), dn_executor_inline()};
        dn_handler handler = {.invoke = check_alone};

        for (unsigned i = 0; i < 2; i++) {
                dn_observer *observer = observe_ok(dn_center_darwin(), N, &handler, executors[i]);
                n_entered = 0;
                post_ok(dn_center_darwin(), N);
                WAIT_UNTIL_EQ(n_entered, 100);
                dn_observer_cancel_wait(observer);
                dn_observer_unref(observer);
        }
}

/* Runs each work on a thread of its own. */
typedef struct lone_work {
        dn_work_fn run;
        void *argument;
} lone_work;

static _Atomic unsigned n_works_ended;

static void *run_alone(void *argument)
{
        lone_work work = *(lone_work *)argument;

        free(argument);
        work.run(work.argument);
        n_works_ended++;
        return NULL;
}

static int enqueue_alone(void *context, dn_work_fn run, void *argument)
{
        lone_work *work = malloc(sizeof(*work));

        *work = (lone_work){run, argument};
        pthread_t thread = test_start_thread(run_alone, work);
        return -pthread_detach(thread);
}

static _Atomic bool overlapped;

/* The first call returns once the executor has run other work, or a second call has begun. */
static void call_exclusively(const dn_event *event, void *context)
{
        if (n_inside++ > 0)
                overlapped = true;
        if (n_calls++ == 0)
                WAIT_UNTIL(n_works_ended > 0 || overlapped);
        n_inside--;
}

static void check_exclusive(dn_center *center)
{
        dn_executor executor = {.enqueue = enqueue_alone};
        dn_handler handler = {.invoke = call_exclusively};
        dn_observer *observer = observe_ok(center, "self.x", &handler, &executor);

        n_calls = n_works_ended = 0;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(dn_center_post(center, "self.x", NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(n_calls, 3);
        CHECK(!overlapped);
        dn_observer_cancel_wait(observer);
        WAIT_UNTIL(n_works_ended >= 3);
        dn_observer_unref(observer);
}

TEST_NO_BUS(handlersOfAnObserverDoNotOverlapOnManyThreads)
{
        check_exclusive(dn_center_darwin());
        if (DN_HAS_BUS)
                check_exclusive(dn_center_distributed());
}

TEST(observersOfOneNameRunInRegistrationOrder)
{
        test_bus_begin();

        for (int i = 0; i < 20; i++)
                observe_ok(dn_center_darwin(), N, NOTING(i), NULL);
        post_ok(dn_center_darwin(), N);
        WAIT_UNTIL_EQ(n_noted, 20);
        post_elsewhere(N, 1, "return");
        WAIT_UNTIL_EQ(n_noted, 40);
        for (int i = 0; i < 40; i++)
                CHECK_EQ(noted[i], i % 20);
}

/* 6: cancellation while an invocation is running. */

static void *cancel_waiting(void *argument)
{
        dn_observer_cancel_wait(argument);
        return NULL;
}

TEST(cancelWaitWaitsForTheRunningInvocation)
{
        test_bus_begin();
        static tally seen = {.blocks = true};
        dn_observer *observer = tally_observe(dn_center_darwin(), N, &seen);

        post_ok(dn_center_darwin(), N);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        pthread_t thread = test_start_thread(cancel_waiting, observer);
        test_let_pass_ms(50);
        CHECK_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
        seen.blocks = false;
        pthread_join(thread, NULL);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        post_ok(dn_center_darwin(), N);
        fence_executor();
        CHECK_EQ(seen.n_calls, 1);
        dn_observer_unref(observer);
}

TEST(cancelFromAnotherThreadLetsOnlyTheRunningCallFinish)
{
        test_bus_begin();
        static tally seen = {.blocks = true};
        dn_observer *observer = tally_observe(dn_center_darwin(), N, &seen);

        for (int i = 0; i < 10; i++)
                post_ok(dn_center_darwin(), N);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        dn_observer_cancel(observer);
        CHECK_EQ(seen.n_destroyed, 0);
        seen.blocks = false;
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        fence_executor();
        CHECK_EQ(seen.n_calls, 1);
        dn_observer_unref(observer);
}

/* 7: changes during a delivery. */

static dn_observer *victim;
static tally *victim_tally;
static _Atomic unsigned n_removals;

static void remove_victim(const dn_event *event, void *context)
{
        if (!victim)
                return;
        victim = tally_drop(victim);
        CHECK_EQ(victim_tally->n_destroyed, 1);
        CHECK_EQ(victim_tally->n_calls, 0);
        free(victim_tally); /* a call after this is a use after free */
        n_removals++;
}

static void check_removal_before_its_turn(dn_center *center)
{
        dn_handler handler = {.invoke = remove_victim};
        dn_observer *observer = observe_ok(center, "self." N, &handler, NULL);

        n_removals = 0;
        for (unsigned i = 1; i <= 20; i++) {
                victim_tally = calloc(1, sizeof *victim_tally);
                victim = tally_observe(center, "self." N, victim_tally);
                post_ok(center, "self." N);
                WAIT_UNTIL_EQ(n_removals, i);
        }
        tally_drop(observer);
        fence_executor();
}

TEST_NO_BUS(observerRemovedBeforeItsTurnIsNotCalled)
{
        check_removal_before_its_turn(dn_center_darwin());
        if (DN_HAS_BUS)
                check_removal_before_its_turn(dn_center_distributed());
        check_removal_before_its_turn(dn_center_local());
}

/* Cancels itself; its destroy hook, which runs between two calls, cancels the next one. */
static dn_observer *self_remover, *successor;

static void remove_self(const dn_event *event, void *context)
{
        self_remover = tally_drop(self_remover);
}

static void remove_successor(void *context)
{
        successor = tally_drop(successor);
        n_removals++;
}

static void check_removal_between_calls(dn_center *center)
{
        const char *const name = "self." N;
        dn_handler handler = {.invoke = remove_self, .destroy = remove_successor};
        static tally seen;

        seen = (tally){0};
        n_removals = 0;
        for (unsigned i = 1; i <= 20; i++) {
                CHECK_EQ(dn_center_observe(center, name, &handler, NULL, &self_remover), 0);
                successor = tally_observe(center, name, &seen);
                post_ok(center, name);
                WAIT_UNTIL_EQ(n_removals, i);
                WAIT_UNTIL_EQ(seen.n_destroyed, i);
        }
        CHECK_EQ(seen.n_calls, 0);
}

TEST_NO_BUS(observerRemovedBetweenTwoCallsIsNotCalled)
{
        check_removal_between_calls(dn_center_darwin());
        check_removal_between_calls(dn_center_local());
}

enum { N_NEWCOMERS = 100 };

static tally newcomers[N_NEWCOMERS];
static _Atomic bool all_added;

static void add_newcomers(const dn_event *event, void *context)
{
        if (all_added)
                return;
        for (int i = 0; i < N_NEWCOMERS; i++)
                tally_observe(event->center, event->name, &newcomers[i]);
        all_added = true;
}

static void check_newcomers(dn_center *center, const char *name, const dn_executor *executor)
{
        dn_handler handler = {.invoke = add_newcomers};

        all_added = false;
        CHECK_EQ(dn_center_observe(center, name, &handler, executor, NULL), 0);
        post_ok(center, name);
        WAIT_UNTIL(all_added);
        fence_executor();
        for (int i = 0; i < N_NEWCOMERS; i++)
                CHECK_EQ(newcomers[i].n_calls, 0);
        post_ok(center, name);
        for (int i = 0; i < N_NEWCOMERS; i++) {
                WAIT_UNTIL_EQ(newcomers[i].n_calls, 1);
                newcomers[i].n_calls = 0;
        }
}

TEST_NO_BUS(observersAddedDuringADeliveryWaitForTheNext)
{
        const dn_executor *executor = dn_executor_inline();

        check_newcomers(dn_center_darwin(), "self.delivery", NULL);
        check_newcomers(dn_center_darwin(), "self.inline", executor);
        check_newcomers(dn_center_local(), "N", NULL);
}

TEST_MAIN()
