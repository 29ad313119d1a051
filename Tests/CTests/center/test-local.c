/* The local center: which observers are called, on which thread, in which order. */
#include <pthread.h>
#include <stdlib.h>

#include "tally.h"

static int marker_x, marker_y;

static void add(tally *observer, const char *name, const void *object)
{
        CHECK_EQ(dn_center_add_observer(dn_center_local(), observer, tally_callback, name, object,
                                        DN_SUSPENSION_DROP),
                 0);
}

static void post(const char *name, const void *object)
{
        CHECK_EQ(dn_center_post(dn_center_local(), name, object, NULL, 0), 0);
}

TEST_NO_BUS(postWithoutObjectReachesOnlyObserversOfAll)
{
        static tally of_x = {0}, of_all = {0};

        add(&of_x, "N", &marker_x);
        add(&of_all, "N", NULL);
        post("N", NULL);
        CHECK_EQ(of_x.n_calls, 0);
        CHECK_EQ(of_all.n_calls, 1);
        post("N", &marker_x);
        CHECK_EQ(of_x.n_calls, 1);
        CHECK_EQ(of_all.n_calls, 2);
        post("N", &marker_y);
        CHECK_EQ(of_x.n_calls, 1);
        CHECK_EQ(of_all.n_calls, 3);
}

TEST_NO_BUS(objectsAreComparedAsPointers)
{
        char one[] = "equal", other[] = "equal";
        static tally of_one = {0};

        add(&of_one, "N", one);
        post("N", other);
        CHECK_EQ(of_one.n_calls, 0);
        post("N", one);
        CHECK_EQ(of_one.n_calls, 1);
}

TEST_NO_BUS(nullNameObservesEveryName)
{
        static tally all = {0}, all_of_x = {0};

        add(&all, NULL, NULL);
        add(&all_of_x, NULL, &marker_x);
        post("A", NULL);
        post("B", &marker_x);
        CHECK_EQ(all.n_calls, 2);
        CHECK_EQ(all_of_x.n_calls, 1);
}

TEST_NO_BUS(namesOfAnyLengthAreKeptApart)
{
        char *one = malloc(5001), *other = malloc(5001);
        static tally of_one = {0}, of_other = {0};

        memset(one, 'n', 5000);
        one[5000] = '\0';
        memcpy(other, one, 5001);
        other[4999] = 'm';
        add(&of_one, one, NULL);
        add(&of_other, other, NULL);
        post(one, NULL);
        CHECK_EQ(of_one.n_calls, 1);
        CHECK_EQ(of_other.n_calls, 0);
        post(other, NULL);
        CHECK_EQ(of_one.n_calls, 1);
        CHECK_EQ(of_other.n_calls, 1);
        free(one);
        free(other);
}

static const void *seen_object;
static const dn_dict *seen_user_info;
static dn_center *seen_center;
static char seen_name[32];
static pthread_t seen_thread;

static void note_event(const dn_event *event, void *context)
{
        (void)context;
        CHECK_EQ(event->n_posts, 1);
        seen_center = event->center;
        seen_object = event->object;
        seen_user_info = event->user_info;
        snprintf(seen_name, sizeof seen_name, "%s", event->name);
        seen_thread = pthread_self();
}

TEST_NO_BUS(callbackReceivesWhatWasPosted)
{
        const dn_dict *user_info = (const dn_dict *)&marker_y; /* passed on, never inspected */
        dn_handler handler = {.invoke = note_event};

        CHECK_EQ(dn_center_observe(dn_center_local(), "N", handler, NULL, NULL), 0);
        CHECK_EQ(dn_center_post(dn_center_local(), "N", &marker_x, user_info, 0), 0);
        CHECK(seen_center == dn_center_local());
        CHECK(seen_object == &marker_x);
        CHECK(seen_user_info == user_info);
        CHECK_STREQ(seen_name, "N");
}

static void *post_on_thread(void *argument)
{
        (void)argument;
        post("N", NULL);
        CHECK(pthread_equal(seen_thread, pthread_self()));
        return NULL;
}

TEST_NO_BUS(postRunsTheCallbackOnItsOwnThreadBeforeItReturns)
{
        dn_handler handler = {.invoke = note_event};
        pthread_t thread;

        CHECK_EQ(dn_center_observe(dn_center_local(), "N", handler, NULL, NULL), 0);
        CHECK_EQ(pthread_create(&thread, NULL, post_on_thread, NULL), 0);
        pthread_join(thread, NULL);
        CHECK_STREQ(seen_name, "N");
}

static int order[20], n_order;

static void note_order(const dn_event *event, void *context)
{
        (void)event;
        order[n_order++] = *(int *)context;
}

TEST_NO_BUS(registrationOrderHoldsAcrossWildcards)
{
        static int numbers[20];

        for (int i = 0; i < 20; i++) {
                numbers[i] = i;
                dn_handler handler = {.invoke = note_order, .context = &numbers[i]};
                dn_filter filter = {
                        .name = i % 2 ? NULL : "N",
                        .object = i % 4 < 2 ? NULL : &marker_x,
                };
                CHECK_EQ(dn_center_observe_filtered(dn_center_local(), &filter, handler, NULL,
                                                    NULL),
                         0);
        }
        post("N", &marker_x);
        CHECK_EQ(n_order, 20);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(order[i], i);
}

static int depth, deepest;
static dn_observer *nested;

static void post_again(const dn_event *event, void *context)
{
        (void)context;
        depth++;
        if (depth > deepest)
                deepest = depth;
        if (depth < 3)
                post(event->name, NULL);
        else
                dn_observer_cancel(nested);
        depth--;
}

TEST_NO_BUS(postsNest)
{
        dn_handler handler = {.invoke = post_again};

        CHECK_EQ(dn_center_observe(dn_center_local(), "N", handler, NULL, &nested), 0);
        post("N", NULL);
        CHECK_EQ(deepest, 3);
        deepest = 0;
        post("N", NULL);
        CHECK_EQ(deepest, 0);
        dn_observer_unref(nested);
}

static void *post_other(void *argument)
{
        (void)argument;
        post("other", NULL);
        return NULL;
}

TEST_NO_BUS(blockedCallbackDoesNotStopPostsOfOtherThreads)
{
        static tally blocked = {.holds = true}, other = {0};
        pthread_t thread, second;

        tally_observe(dn_center_local(), "N", &blocked);
        tally_observe(dn_center_local(), "other", &other);
        CHECK_EQ(pthread_create(&thread, NULL, post_on_thread, NULL), 0);
        WAIT_UNTIL_EQ(blocked.n_calls, 1);
        CHECK_EQ(pthread_create(&second, NULL, post_other, NULL), 0);
        pthread_join(second, NULL);
        CHECK_EQ(other.n_calls, 1);
        seen_thread = thread;
        blocked.holds = false;
        pthread_join(thread, NULL);
}

TEST_MAIN()
