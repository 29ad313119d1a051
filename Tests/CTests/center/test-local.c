/* The local center: which observers are called, on which thread, in which order. */
#include <pthread.h>

#include "tally.h"

/* Equal texts with different addresses. */
static const char x[] = "equal", y[] = "equal";

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

/* Which posts reach an observer of a name and an object: posts of N without an object, with x, with
 * y, and of another name with x. */
TEST_NO_BUS(nullMatchesEveryNameAndObjectAndOthersOnlyThemselves)
{
        static const struct {
                const char *name, *object;
                unsigned reached[4];
        } rows[] = {
                {"N", NULL, {1, 1, 1, 0}},
                {"N", x, {0, 1, 0, 0}},
                {NULL, NULL, {1, 1, 1, 1}},
                {NULL, x, {0, 1, 0, 1}},
        };
        static const char *const names[] = {"N", "N", "N", "M"}, *const objects[] = {NULL, x, y, x};

        for (int i = 0; i < 4; i++) {
                static tally seen;
                add(&seen, rows[i].name, rows[i].object);
                for (int j = 0; j < 4; j++) {
                        seen.n_calls = 0;
                        post(names[j], objects[j]);
                        CHECK_EQ(seen.n_calls, rows[i].reached[j]);
                }
                CHECK_EQ(dn_center_remove_every_observer(dn_center_local(), &seen), 0);
        }
}

TEST_NO_BUS(namesOfAnyLengthAreKeptApart)
{
        char one[5001] = {0}, other[5001] = {0};
        static tally of_one = {0}, of_other = {0};

        memset(one, 'n', 5000);
        memset(other, 'n', 4999);
        other[4999] = 'm';
        add(&of_one, one, NULL);
        add(&of_other, other, NULL);
        post(one, NULL);
        CHECK(of_one.n_calls == 1 && of_other.n_calls == 0);
        post(other, NULL);
        CHECK(of_one.n_calls == 1 && of_other.n_calls == 1);
}

static dn_event seen_event;
static char seen_name[32];
static pthread_t seen_thread;

static void note_event(const dn_event *event, void *context)
{
        seen_event = *event;
        snprintf(seen_name, sizeof seen_name, "%s", event->name);
        seen_thread = pthread_self();
}

static void *post_on_thread(void *argument)
{
        post("N", NULL);
        return argument;
}

TEST_NO_BUS(callbackReceivesWhatWasPostedBeforeThePostReturns)
{
        const dn_dict *user_info = (const dn_dict *)y; /* passed on, never inspected */

        observe_ok(dn_center_local(), "N", &(dn_handler){.invoke = note_event}, NULL);
        CHECK_EQ(dn_center_post(dn_center_local(), "N", x, user_info, 0), 0);
        CHECK(pthread_equal(seen_thread, pthread_self()));
        CHECK(seen_event.center == dn_center_local());
        CHECK(seen_event.object == x);
        CHECK(seen_event.user_info == user_info);
        CHECK_EQ(seen_event.n_posts, 1);
        CHECK_STREQ(seen_name, "N");
        pthread_t thread = test_start_thread(post_on_thread, NULL);
        pthread_join(thread, NULL);
        CHECK(pthread_equal(seen_thread, thread));
}

TEST_NO_BUS(observersOfAllNamesFollowThoseOfTheName)
{
        for (int i = 0; i < 20; i++) {
                dn_filter filter = {
                        .name = i % 2 ? NULL : "N",
                        .object = i % 4 < 2 ? NULL : x,
                };
                CHECK_EQ(dn_center_observe_filtered(dn_center_local(), &filter, NOTING(i), NULL,
                                                    NULL),
                         0);
        }
        post("N", x);
        CHECK_EQ(n_noted, 20);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(noted[i], i < 10 ? 2 * i : 2 * (i - 10) + 1);
}

static int depth, deepest;
static dn_observer *nested;

static void post_again(const dn_event *event, void *context)
{
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
        nested = observe_ok(dn_center_local(), "N", &(dn_handler){.invoke = post_again}, NULL);
        post("N", NULL);
        CHECK_EQ(deepest, 3);
        deepest = 0;
        post("N", NULL);
        CHECK_EQ(deepest, 0);
        dn_observer_unref(nested);
}

static void cancel_and_post_again(const dn_event *event, void *context)
{
        dn_observer_cancel(nested);
        post(event->name, NULL);
}

TEST_NO_BUS(aHandlerThatCancelsItselfDoesNotHearItsOwnPosts)
{
        static tally seen;

        nested = observe_ok(dn_center_local(), "N",
                            &(dn_handler){.invoke = cancel_and_post_again}, NULL);
        tally_observe(dn_center_local(), "N", &seen);
        post("N", NULL);
        CHECK_EQ(seen.n_calls, 2);
        dn_observer_unref(nested);
}

TEST_NO_BUS(onlyTheDarwinCenterHasNamesThatNobodyCounts)
{
        static tally seen;

        tally_observe(dn_center_local(), "N", &seen);
        CHECK_EQ(statistic_of(dn_center_local(), DN_STATISTIC_NAMES_UNCOUNTED), 0);
}

TEST_NO_BUS(blockedCallbackDoesNotStopPostsOfOtherThreads)
{
        static tally blocked = {.blocks = true}, other = {0};

        tally_observe(dn_center_local(), "N", &blocked);
        tally_observe(dn_center_local(), "other", &other);
        pthread_t thread = test_start_thread(post_on_thread, NULL);
        WAIT_UNTIL_EQ(blocked.n_calls, 1);
        post("other", NULL);
        CHECK_EQ(other.n_calls, 1);
        blocked.blocks = false;
        pthread_join(thread, NULL);
}

TEST_MAIN()
