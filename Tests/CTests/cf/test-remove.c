/* Which registrations a removal removes. */
#include <pthread.h>

#include "tally.h"
#include "test-bus.h"

static int marker_x, marker_y;

static void add(dn_center *center, tally *observer, const char *name, const void *object)
{
        CHECK_EQ(dn_center_add_observer(center, observer, tally_callback, name, object, 0), 0);
}

/* Local center: what a post now calls of the three registrations below. */
static void check_left(tally *o, unsigned n1_x, unsigned n1_y, unsigned n2_x)
{
        dn_center *local = dn_center_local();

        o->n_calls = 0;
        CHECK_EQ(dn_center_post(local, "N1", &marker_x, NULL, 0), 0);
        CHECK_EQ(o->n_calls, n1_x);
        o->n_calls = 0;
        CHECK_EQ(dn_center_post(local, "N1", &marker_y, NULL, 0), 0);
        CHECK_EQ(o->n_calls, n1_y);
        o->n_calls = 0;
        CHECK_EQ(dn_center_post(local, "N2", &marker_x, NULL, 0), 0);
        CHECK_EQ(o->n_calls, n2_x);
}

static void add_three(tally *o)
{
        CHECK_EQ(dn_center_remove_every_observer(dn_center_local(), o), 0);
        add(dn_center_local(), o, "N1", &marker_x);
        add(dn_center_local(), o, "N1", &marker_y);
        add(dn_center_local(), o, "N2", &marker_x);
        check_left(o, 1, 1, 1);
}

TEST_NO_BUS(nullInARemovalMatchesEverything)
{
        dn_center *local = dn_center_local();
        static tally o = {0};

        add_three(&o);
        CHECK_EQ(dn_center_remove_observer(local, &o, "N1", NULL), 0);
        check_left(&o, 0, 0, 1);
        add_three(&o);
        CHECK_EQ(dn_center_remove_observer(local, &o, NULL, &marker_x), 0);
        check_left(&o, 0, 1, 0);
        add_three(&o);
        CHECK_EQ(dn_center_remove_observer(local, &o, "N1", &marker_x), 0);
        check_left(&o, 0, 1, 1);
        add_three(&o);
        CHECK_EQ(dn_center_remove_observer(local, &o, NULL, NULL), 0);
        check_left(&o, 0, 0, 0);
        add_three(&o);
        CHECK_EQ(dn_center_remove_every_observer(local, &o), 0);
        check_left(&o, 0, 0, 0);
}

TEST_NO_BUS(removalOfOneNameLeavesTheObserverOfEveryName)
{
        dn_center *local = dn_center_local();
        static tally o = {0};

        add(local, &o, NULL, NULL);
        CHECK_EQ(dn_center_remove_observer(local, &o, "N", NULL), 0);
        (void)dn_center_remove_observer(local, &o, "", NULL);
        post_ok(local, "N");
        CHECK_EQ(o.n_calls, 1);
        CHECK_EQ(dn_center_remove_observer(local, &o, NULL, NULL), 0);
        post_ok(local, "N");
        CHECK_EQ(o.n_calls, 1);
}

TEST(removeEveryObserverIsPerObserver)
{
        test_bus_begin();
        dn_center *center = dn_center_darwin();
        static tally o1 = {0}, o2 = {0};

        add(center, &o1, "N", NULL);
        add(center, &o1, "M", NULL);
        add(center, &o2, "N", NULL);
        CHECK_EQ(dn_center_remove_every_observer(center, &o1), 0);
        post_ok(center, "N");
        post_ok(center, "M");
        WAIT_UNTIL_EQ(o2.n_calls, 1);
        fence_executor();
        CHECK_EQ(o1.n_calls, 0);
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

static const void *seen_object = &marker_x;
static const dn_dict *seen_user_info = (const dn_dict *)&marker_x;
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

        CHECK_EQ(dn_center_add_observer(center, &marker_y, note_extras, "N", &marker_x, 0), 0);
        CHECK_EQ(dn_center_post(center, "N", &marker_y, (const dn_dict *)&marker_y, 0), 0);
        WAIT_UNTIL_EQ(n_seen, 1);
        CHECK(!seen_object);
        CHECK(!seen_user_info);

        add(center, &o, "N", NULL);
        CHECK_EQ(dn_center_remove_observer(center, &o, "N", &marker_x), 0);
        post_ok(center, "N");
        WAIT_UNTIL_EQ(n_seen, 2);
        fence_executor();
        CHECK_EQ(o.n_calls, 0);
}

static _Atomic unsigned n_null_observer;

static void note_null(dn_center *center, void *observer, const char *name, const void *object,
                      const dn_dict *user_info)
{
        (void)center;
        (void)name;
        (void)object;
        (void)user_info;
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
        pthread_t poster;

        CHECK_EQ(pthread_create(&poster, NULL, post_until_done, NULL), 0);
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
