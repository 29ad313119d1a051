/* Which registrations a removal removes. */
#include <pthread.h>

#include "tally.h"
#include "test-bus.h"

static int marker_y;

static void add(dn_center *center, tally *observer, const char *name, const void *object)
{
        CHECK_EQ(dn_center_add_observer(center, observer, tally_callback, name, object, 0), 0);
}

/* Objects: the local center compares their addresses, the distributed one their text. */
static const char x[] = "x", y[] = "y", copy_of_x[] = "x";

/* What is left of three registrations, for 1 and x, 1 and y, 2 and x. */
static const struct {
        const char *name, *object;
        unsigned n_left[3];
} removals[] = {
        {"self.1", NULL, {0, 0, 1}},
        {NULL, x, {0, 1, 0}},
        {"self.1", x, {0, 1, 1}},
        {"self.other", NULL, {1, 1, 1}},
        {NULL, NULL, {0, 0, 0}},
};

static _Atomic unsigned n_calls[3];

static void count_registration(dn_center *center, void *observer, const char *name,
                               const void *object, const dn_dict *user_info)
{
        n_calls[strcmp(name, "self.2") == 0 ? 2 : *(const char *)object == 'y']++;
}

static void check_removals(dn_center *center, const char *object_x)
{
        static const char *const names[] = {"self.1", "self.1", "self.2"};
        static const char *const objects[] = {x, y, x};
        static tally other;
        static char o;

        other.n_calls = 0;
        add(center, &other, "self.1", NULL);
        for (size_t i = 0; i < sizeof removals / sizeof *removals; i++) {
                for (int j = 0; j < 3; j++) {
                        n_calls[j] = 0;
                        CHECK_EQ(dn_center_add_observer(center, &o, count_registration, names[j],
                                                        objects[j], 0),
                                 0);
                }
                CHECK_EQ(dn_center_remove_observer(center, &o, removals[i].name,
                                                   removals[i].object ? object_x : NULL),
                         0);
                for (int j = 0; j < 3; j++)
                        CHECK_EQ(dn_center_post(center, names[j], objects[j], NULL, 0), 0);
                fence_executor();
                for (int j = 0; j < 3; j++)
                        CHECK_EQ(n_calls[j], removals[i].n_left[j]);
                CHECK_EQ(dn_center_remove_every_observer(center, &o), 0);
                CHECK_EQ(other.n_calls, 2 * (i + 1));
        }
        CHECK_EQ(dn_center_remove_every_observer(center, &other), 0);
}

TEST_NO_BUS(nullInARemovalMatchesEverything)
{
        check_removals(dn_center_local(), x);
        if (DN_HAS_BUS)
                check_removals(dn_center_distributed(), copy_of_x);
}

static void check_observer_of_every_name(dn_center *center)
{
        static tally o;

        o.n_calls = 0;
        CHECK(dn_center_add_observer(center, &o, tally_callback, NULL, NULL, 0) >= 0);
        CHECK_EQ(dn_center_remove_observer(center, &o, "self.1", NULL), 0);
        (void)dn_center_remove_observer(center, &o, "", NULL);
        CHECK_EQ(dn_center_post(center, "self.1", NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(o.n_calls, 1);
        CHECK_EQ(dn_center_remove_observer(center, &o, NULL, NULL), 0);
        CHECK_EQ(dn_center_post(center, "self.1", NULL, NULL, 0), 0);
        fence_executor();
        CHECK_EQ(o.n_calls, 1);
}

TEST_NO_BUS(removalOfOneNameLeavesTheObserverOfEveryName)
{
        check_observer_of_every_name(dn_center_local());
        if (DN_HAS_BUS)
                check_observer_of_every_name(dn_center_distributed());
}

static void second_callback(dn_center *center, void *observer, const char *name,
                            const void *object, const dn_dict *user_info)
{
        tally_callback(center, observer, name, object, user_info);
}

TEST(removalIncludesDuplicatesWithAnyCallback)
{
        test_bus_begin();
        dn_center *center = dn_center_darwin();
        static tally o = {0};

        add(center, &o, "N", NULL);
        add(center, &o, "N", NULL);
        CHECK_EQ(dn_center_add_observer(center, &o, second_callback, "N", NULL, 0), 0);
        post_ok(center, "N");
        WAIT_UNTIL_EQ(o.n_calls, 3);
        fence_executor();
        CHECK_EQ(o.n_calls, 3);
        CHECK_EQ(dn_center_remove_observer(center, &o, "N", NULL), 0);
        post_ok(center, "N");
        fence_executor();
        CHECK_EQ(o.n_calls, 3);
}

static const void *seen_object = x;
static const dn_dict *seen_user_info = (const dn_dict *)x;
static _Atomic unsigned n_seen;

static void note_extras(dn_center *center, void *observer, const char *name, const void *object,
                        const dn_dict *user_info)
{
        CHECK(center == dn_center_darwin());
        CHECK(observer == &marker_y);
        CHECK_STREQ(name, "N");
        seen_object = object;
        seen_user_info = user_info;
        n_seen++;
}

TEST(darwinCenterIgnoresObjectAndUserInfo)
{
        test_bus_begin();
        dn_center *center = dn_center_darwin();
        static tally o = {0};

        CHECK_EQ(dn_center_add_observer(center, &marker_y, note_extras, "N", x, 0), 0);
        CHECK_EQ(dn_center_post(center, "N", &marker_y, (const dn_dict *)&marker_y, 0), 0);
        WAIT_UNTIL_EQ(n_seen, 1);
        CHECK(!seen_object);
        CHECK(!seen_user_info);

        add(center, &o, "N", NULL);
        CHECK_EQ(dn_center_remove_observer(center, &o, "N", x), 0);
        post_ok(center, "N");
        WAIT_UNTIL_EQ(n_seen, 2);
        fence_executor();
        CHECK_EQ(o.n_calls, 0);
}

TEST_ON_BUS(ignoredArgumentsAreNotReadWhileAPostWaits)
{
        dn_center *center = dn_center_darwin();
        dn_observer *observer = NULL;
        test_bus *bus = test_bus_begin();
        static tally seen = {0};

        CHECK_EQ(dn_center_observe_prefix(center, "N", TALLY_HANDLER(&seen), NULL, &observer), 0);
        test_bus_kill(bus);
        CHECK_EQ(dn_center_post(center, "N", (const void *)8, (const dn_dict *)8, 0), 0);
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        tally_drop(observer);
}

static _Atomic unsigned n_null_observer;

static void note_null(dn_center *center, void *observer, const char *name, const void *object,
                      const dn_dict *user_info)
{
        CHECK(!observer);
        n_null_observer++;
}

static void check_permanent(dn_center *center)
{
        n_null_observer = 0;
        CHECK_EQ(dn_center_add_observer(center, NULL, note_null, "self.N", NULL, 0), 0);
        CHECK_EQ(dn_center_remove_observer(center, NULL, "self.N", NULL), -EINVAL);
        CHECK_EQ(dn_center_remove_observer(center, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_remove_every_observer(center, NULL), -EINVAL);
        post_ok(center, "self.N");
        WAIT_UNTIL_EQ(n_null_observer, 1);
}

TEST_NO_BUS(nullObserverIsPermanent)
{
        check_permanent(dn_center_darwin());
        if (DN_HAS_BUS)
                check_permanent(dn_center_distributed());
        check_permanent(dn_center_local());
}

/* --- A callback that removes itself, possibly before the call adding it has returned ---------- */

enum { N_ROUNDS = 20000 };

static tally selves[N_ROUNDS];
static _Atomic bool is_done;

static void count_and_remove(dn_center *center, void *observer, const char *name,
                             const void *object, const dn_dict *user_info)
{
        tally_callback(center, observer, name, object, user_info);
        CHECK_EQ(dn_center_remove_observer(center, observer, name, object), 0);
}

static void *post_until_done(void *unused)
{
        while (!is_done)
                post_ok(dn_center_local(), "N");
        return unused;
}

TEST_NO_BUS(callbackThatRemovesItselfRunsOnceEvenBeforeItsAddReturns)
{
        pthread_t poster = test_start_thread(post_until_done, NULL);
        for (size_t i = 0; i < N_ROUNDS; i++)
                CHECK_EQ(dn_center_add_observer(dn_center_local(), &selves[i], count_and_remove,
                                                "N", NULL, 0),
                         0);
        for (size_t i = 0; i < N_ROUNDS; i++)
                WAIT_UNTIL(selves[i].n_calls >= 1);
        is_done = true;
        CHECK_EQ(pthread_join(poster, NULL), 0);
        post_ok(dn_center_local(), "N");
        for (size_t i = 0; i < N_ROUNDS; i++)
                CHECK_EQ(selves[i].n_calls, 1);
}

TEST_MAIN()
