/* Replaces the handler of an observer. */
#include <dlfcn.h>
#include <pthread.h>

#include "delivery/hub.h"
#include "record.h"
#include "tally.h"
#include "test-bus.h"

static void check_replaced(dn_center *center)
{
        static tally old, new;
        dn_observer *before = tally_observe(center, "N", &old), *after = NULL;

        old.n_calls = old.n_destroyed = new.n_calls = new.n_destroyed = 0;
        post_ok(center, "N");
        WAIT_UNTIL_EQ(old.n_calls, 1);
        CHECK_EQ(dn_observer_replace(before, TALLY_HANDLER(&new), NULL, &after), 0);
        WAIT_UNTIL_EQ(old.n_destroyed, 1);
        CHECK_EQ(dn_observer_replace(before, TALLY_HANDLER(&old), NULL, NULL), -EINVAL);
        post_ok(center, "N");
        WAIT_UNTIL_EQ(new.n_calls, 1);
        CHECK_EQ(old.n_calls, 1);
        dn_observer_unref(before);
        tally_drop(after);
        WAIT_UNTIL_EQ(new.n_destroyed, 1);
}

TEST(replacedHandlerIsDestroyedAndTheNewOneTakesOver)
{
        test_bus_begin();
        check_replaced(dn_center_darwin());
        check_replaced(dn_center_local());
}

/* Nine posts wait. */
static void check_waiting(const char *name, const dn_executor *executor, tally *old, tally *new)
{
        dn_center *center = dn_center_darwin();
        dn_observer *before = tally_observe(center, name, old), *after = NULL;

        old->blocks = true;
        for (int i = 0; i < 10; i++)
                post_ok(center, name);
        WAIT_UNTIL_EQ(old->n_calls, 1);
        CHECK_EQ(dn_observer_replace(before, TALLY_HANDLER(new), executor, &after), 0);
        if (executor) { /* in one call */
                WAIT_UNTIL_EQ(new->n_posts, 9);
                CHECK_EQ(new->n_calls, 1);
        }
        old->blocks = false;
        WAIT_UNTIL_EQ(new->n_posts, 9);
        fence_executor();
        CHECK_EQ(old->n_posts, 1);
        CHECK_EQ(new->n_posts, 9);
        CHECK_EQ(old->n_destroyed, 1);
        dn_observer_unref(before);
}

TEST(waitingPostsGoToTheNewHandlerOrItsExecutor)
{
        const dn_executor *inline_executor = dn_executor_inline();
        static tally old[2], new[2];

        test_bus_begin();
        check_waiting("N", NULL, &old[0], &new[0]);
        check_waiting("M", inline_executor, &old[1], &new[1]);
}

/* Replaces a handler on another executor while a post is being handled. The old one has been called
 * that often; the new one hears that it may have missed posts. */
static void check_missed(dn_observer *before, record *old, uint64_t n_calls, record *handling)
{
        static record new;
        dn_observer *after = NULL;

        WAIT_UNTIL_EQ(handling->n_calls, 1);
        record_init(&new);
        CHECK_EQ(dn_observer_replace(before, RECORD_HANDLER(&new), dn_executor_inline(), &after),
                 0);
        handling->blocks = false;
        WAIT_UNTIL_EQ(old->n_destroyed, 1);
        CHECK_EQ(old->n_calls, n_calls);
        post_ok(dn_center_distributed(), "N");
        WAIT_UNTIL_EQ(new.n_calls, 1);
        CHECK_EQ(new.n_may_have_missed, 1);
        dn_observer_unref(before);
        tally_drop(after);
}

/* They have no place in the order of another executor. */
TEST_ON_BUS(waitingPostsWithAPayloadAreLostWithTheirExecutor)
{
        static record old;

        test_bus_begin();
        dn_observer *before = record_observe(dn_center_distributed(), &(dn_filter){.name = "N"},
                                             &old);
        old.blocks = true;
        for (int i = 0; i < 2; i++)
                post_ok(dn_center_distributed(), "N");
        check_missed(before, &old, 1, &old);
}

/* The post has not reached it, because another observer is still handling it. */
TEST_ON_BUS(aPostThatAnotherObserverHoldsUpIsReportedToTheNewHandler)
{
        const dn_filter filter = {.name = "N"};
        static record first, old;

        test_bus_begin();
        dn_observer *holder = record_observe(dn_center_distributed(), &filter, &first);
        dn_observer *before = record_observe(dn_center_distributed(), &filter, &old);
        first.blocks = true;
        post_ok(dn_center_distributed(), "N");
        check_missed(before, &old, 0, &first);
        tally_drop(holder);
}

#define N_POSTS 20000
#define N_HANDLERS 200

static void *post_many(void *argument)
{
        for (int i = 0; i < N_POSTS; i++)
                post_ok(dn_center_darwin(), "N");
        return NULL;
}

TEST(everyPostGoesToExactlyOneOfTheHandlers)
{
        static tally tallies[N_HANDLERS];
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &tallies[0]);
        uint64_t sum = 0;

        test_peer_watch(peer, TEST_WIRE_RULE ",arg0namespace='fence'");
        pthread_t thread = test_start_thread(post_many, NULL);
        for (int i = 1; i < N_HANDLERS; i++) {
                dn_observer *next = NULL;
                CHECK_EQ(dn_observer_replace(observer, TALLY_HANDLER(&tallies[i]), NULL, &next),
                         0);
                dn_observer_unref(observer);
                observer = next;
        }
        pthread_join(thread, NULL);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        fence_bus(peer);
        for (int i = 0; i < N_HANDLERS; i++)
                sum += tallies[i].n_posts;
        CHECK_EQ(sum, N_POSTS);
        tally_drop(observer);
        for (int i = 0; i < N_HANDLERS; i++)
                WAIT_UNTIL_EQ(tallies[i].n_destroyed, 1);
}

/* --- A center that only its observer keeps open ----------------------------------------------- */

static dn_observer *kept;
static dn__hub *kept_hub;
static _Thread_local unsigned n_locks, cancel_before; /* 0: this thread replaces nothing */

static void *cancel_kept(void *argument)
{
        dn_observer_cancel(kept);
        return argument;
}

/* In another thread, which needs the lock of the hub. */
static void cancel_elsewhere(void)
{
        cancel_before = 0;
        CHECK_EQ(pthread_join(test_start_thread(cancel_kept, NULL), NULL), 0);
        /* The first lock is that under which the replacement finds that it is not cancelled. */
        CHECK(n_locks == 1 || dn__link_is_linked(&kept_hub->link));
}

/* Overrides that of libc. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
        static int (*original)(pthread_mutex_t *mutex);

        if (!original)
                *(void **)&original = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        if (cancel_before && pthread_mutex_trylock(&kept_hub->lock.mutex) == 0) {
                CHECK_EQ(pthread_mutex_unlock(&kept_hub->lock.mutex), 0);
                if (++n_locks == cancel_before)
                        cancel_elsewhere();
        }
        return original(mutex);
}

/* Returns whether the observer was cancelled before that lock; there may be fewer. */
static bool replace_while_it_is_cancelled(const char *address, unsigned before)
{
        static tally old, new;
        dn_observer *after = NULL;
        dn_center *center = NULL;
        bool is_cancelled;
        int r;

        old.n_destroyed = new.n_destroyed = 0;
        CHECK_EQ(dn_center_open(address, &center), 0);
        kept = tally_observe(center, "N", &old);
        kept_hub = dn__hub_find(center);
        dn_center_unref(center);
        n_locks = 0;
        cancel_before = before;
        r = dn_observer_replace(kept, TALLY_HANDLER(&new), dn_executor_inline(), &after);
        is_cancelled = cancel_before == 0;
        cancel_before = 0;
        CHECK(r == 0 || (r == -EINVAL && is_cancelled));
        dn_observer_unref(kept);
        tally_drop(after);
        WAIT_UNTIL_EQ(old.n_destroyed, 1);
        WAIT_UNTIL_EQ(new.n_destroyed, 1);
        return is_cancelled;
}

TEST_ON_BUS(aCenterStaysOpenUntilTheHandlerOfItsLastObserverIsReplaced)
{
        const char *address = test_bus_address(test_bus_begin());
        unsigned before = 1;

        while (replace_while_it_is_cancelled(address, before))
                before++;
        CHECK(before > 2);
}

/* --- The local center ------------------------------------------------------------------------- */

/* The handlers called, in order. */
static char called[32];
static dn_observer *replaced;
static bool is_done;

static void note_call(const dn_event *event, void *context)
{
        CHECK(strlen(called) + 1 < sizeof called);
        strcat(called, context);
}

static void note_and_replace(const dn_event *event, void *context)
{
        dn_observer *before = replaced;
        dn_handler next = {.invoke = note_call, .context = "R"};

        note_call(event, context);
        if (is_done)
                return;
        is_done = true;
        CHECK_EQ(dn_observer_replace(before, &next, NULL, &replaced), 0);
        dn_observer_unref(before);
}

static dn_observer *observe_noting(const char *mark, void (*invoke)(const dn_event *, void *))
{
        dn_handler handler = {.invoke = invoke, .context = (void *)mark};

        return observe_ok(dn_center_local(), "N", &handler, NULL);
}

/* Three observers A, B, C: one of them replaces B by R. */
static void check_replacement(char by, const char *first, const char *second)
{
        static const char marks[][2] = {"A", "B", "C"};
        dn_observer *observers[3];

        called[0] = '\0';
        is_done = false;
        for (int i = 0; i < 3; i++) {
                observers[i] = observe_noting(marks[i],
                                              *marks[i] == by ? note_and_replace : note_call);
                if (i == 1)
                        replaced = observers[1];
        }
        post_ok(dn_center_local(), "N");
        CHECK_STREQ(called, first);
        post_ok(dn_center_local(), "N");
        CHECK_STREQ(called, FORMAT("%s%s", first, second));
        tally_drop(observers[0]);
        tally_drop(replaced);
        tally_drop(observers[2]);
}

TEST_NO_BUS(aReplacementTakesTheTurnOfItsPredecessor)
{
        check_replacement('A', "ARC", "ARC"); /* it is called if that one was not */
        check_replacement('B', "ABC", "ARC");
        check_replacement('C', "ABC", "ARC");
}

TEST_MAIN()
