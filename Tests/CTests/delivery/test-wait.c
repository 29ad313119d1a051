/* Waits until an observer has ended. */
#include <pthread.h>

#include "tally.h"
#include "test-bus.h"

/* An observer whose hook, and on request its handler, stays until a lock is free. */
typedef struct guarded {
        dn_observer *observer;
        pthread_mutex_t handling;
        pthread_mutex_t destroying;
        _Atomic unsigned n_calls;
        _Atomic bool is_destroying, is_destroyed, has_waited;
} guarded;

static void pass(pthread_mutex_t *lock)
{
        CHECK_EQ(pthread_mutex_lock(lock), 0);
        CHECK_EQ(pthread_mutex_unlock(lock), 0);
}

static void handle(const dn_event *event, void *context)
{
        guarded *self = context;

        self->n_calls++;
        pass(&self->handling);
}

static void destroy(void *context)
{
        guarded *self = context;

        self->is_destroying = true;
        dn_observer_cancel_wait(self->observer); /* does not wait for its caller */
        pass(&self->destroying);
        self->is_destroyed = true;
}

static void *cancel(void *context)
{
        dn_observer_cancel(((guarded *)context)->observer);
        return context;
}

static void *cancel_wait(void *context)
{
        guarded *self = context;

        dn_observer_cancel_wait(self->observer);
        CHECK(self->is_destroyed);
        self->has_waited = true;
        return context;
}

static void observe_guarded(dn_center *center, guarded *self)
{
        dn_handler handler = {.invoke = handle, .context = self, .destroy = destroy};

        CHECK_EQ(pthread_mutex_init(&self->handling, NULL), 0);
        CHECK_EQ(pthread_mutex_init(&self->destroying, NULL), 0);
        self->observer = observe_ok(center, "self.x", &handler, NULL);
        CHECK_EQ(pthread_mutex_lock(&self->destroying), 0);
}

/* Another thread is inside the hook, or will be. */
static void check_wait(guarded *self)
{
        pthread_t waiter = test_start_thread(cancel_wait, self);

        WAIT_UNTIL(self->is_destroying);
        WAIT_UNTIL(test_others_rest());
        CHECK(!self->has_waited);
        CHECK_EQ(pthread_mutex_unlock(&self->destroying), 0);
        CHECK_EQ(pthread_join(waiter, NULL), 0);
        dn_observer_unref(self->observer);
}

TEST_NO_BUS(aWaitAlsoWaitsForTheHookOnTheThreadThatCancels)
{
        static guarded guarded;
        pthread_t canceller;

        test_bus_use_none();
        observe_guarded(dn_center_darwin(), &guarded);
        canceller = test_start_thread(cancel, &guarded);
        WAIT_UNTIL(guarded.is_destroying);
        check_wait(&guarded);
        CHECK_EQ(pthread_join(canceller, NULL), 0);
}

TEST_NO_BUS(aWaitAlsoWaitsForTheHookAfterTheLastCall)
{
        static guarded guarded;

        test_bus_use_none();
        observe_guarded(dn_center_darwin(), &guarded);
        CHECK_EQ(pthread_mutex_lock(&guarded.handling), 0);
        post_ok(dn_center_darwin(), "self.x");
        WAIT_UNTIL_EQ(guarded.n_calls, 1);
        dn_observer_cancel(guarded.observer);
        CHECK_EQ(pthread_mutex_unlock(&guarded.handling), 0);
        check_wait(&guarded);
}

static void *post_local(void *argument)
{
        post_ok(dn_center_local(), "self.x");
        return argument;
}

/* The hook of the first one runs while the delivery is between the two. */
TEST_NO_BUS(aWaitForTheNextObserverDoesNotWaitForTheHookOfThePreviousOne)
{
        static guarded first;
        static tally next;
        dn_observer *observer;
        pthread_t poster;

        observe_guarded(dn_center_local(), &first);
        observer = tally_observe(dn_center_local(), "self.x", &next);
        CHECK_EQ(pthread_mutex_lock(&first.handling), 0);
        poster = test_start_thread(post_local, NULL);
        WAIT_UNTIL_EQ(first.n_calls, 1);
        dn_observer_cancel(first.observer);
        CHECK_EQ(pthread_mutex_unlock(&first.handling), 0);
        WAIT_UNTIL(first.is_destroying);
        dn_observer_cancel_wait(observer);
        CHECK_EQ(next.n_destroyed, 1);
        CHECK_EQ(pthread_mutex_unlock(&first.destroying), 0);
        CHECK_EQ(pthread_join(poster, NULL), 0);
        CHECK_EQ(next.n_calls, 0);
        dn_observer_unref(observer);
        dn_observer_unref(first.observer);
}

TEST_MAIN()
