/* Out of memory: each allocation of a call fails once. */
#include <malloc.h>

#include "center/own-table.h"
#include "delivery/prefix.h"
#include "delivery/topic.h"
#include "failing-allocator.h"
#include "requests.h"
#include "tally.h"

/* Allocations of this thread until one fails; negative: none fails. */
static _Thread_local int n_until_failure = -1;
static _Thread_local bool has_failed;

static _Thread_local void (*at_allocation)(void); /* called by the next one */

static bool allocation_fails(void)
{
        void (*call)(void) = at_allocation;

        at_allocation = NULL;
        if (call)
                call();
        if (n_until_failure < 0 || n_until_failure-- > 0)
                return false;
        has_failed = true;
        return true;
}

/* Repeats a call, failing its first, second, ... allocation, until it completes without a failure.
 * Returns how many failed. */
static int fail_each(int (*call)(void))
{
        for (int n = 0;; n++) {
                has_failed = false;
                n_until_failure = n;
                int r = call();
                n_until_failure = -1;
                CHECK(r == 0 || (has_failed && (r == -ENOMEM || r == -EAGAIN)));
                if (!has_failed)
                        return n;
        }
}

static tally seen;

static int observe_and_cancel(void)
{
        uint64_t n_before = seen.n_destroyed;
        dn_observer *observer = NULL;
        int r = dn_center_observe(dn_center_darwin(), "N", TALLY_HANDLER(&seen), NULL, &observer);

        n_until_failure = -1;
        CHECK_EQ(r == 0, observer != NULL);
        tally_drop(observer);
        CHECK_EQ(seen.n_destroyed, n_before + 1);
        return r;
}

static _Atomic unsigned n_owners, n_owners_destroyed;

static void note_owner(const dn_owner *owner, void *context)
{
        n_owners++;
}

static void note_bus(dn_center *center, bool is_on_bus, void *context)
{
}

static void note_owner_end(void *context)
{
        n_owners_destroyed++;
}

static int observe_owner_and_cancel(void)
{
        const dn_owner_handler handler = {.invoke = note_owner, .destroy = note_owner_end};
        unsigned n_before = n_owners, n_destroyed_before = n_owners_destroyed;
        dn_observer *observer = NULL;
        int r = dn_center_observe_owner(dn_center_darwin(), SERVICE, &handler, NULL, &observer);

        n_until_failure = -1;
        CHECK_EQ(r == 0, observer != NULL);
        if (observer)
                WAIT_UNTIL(n_owners > n_before);
        tally_drop(observer);
        WAIT_UNTIL_EQ(n_owners_destroyed, n_destroyed_before + 1);
        return r;
}

TEST(observersOfOwnersHearTheStateOrAreRefused)
{
        require_failing_allocator();
        test_bus_begin();
        CHECK_EQ(observe_owner_and_cancel(), 0);
        CHECK(fail_each(observe_owner_and_cancel) > 2);
}

static int observe_bus_and_cancel(void)
{
        const dn_bus_handler handler = {.invoke = note_bus, .destroy = note_owner_end};
        unsigned n_destroyed_before = n_owners_destroyed;
        dn_observer *observer = NULL;
        int r = dn_center_observe_bus(dn_center_darwin(), &handler, NULL, &observer);

        n_until_failure = -1;
        CHECK_EQ(r == 0, observer != NULL);
        tally_drop(observer);
        WAIT_UNTIL_EQ(n_owners_destroyed, n_destroyed_before + 1);
        return r;
}

static int observe_prefix_and_cancel(void)
{
        uint64_t n_before = seen.n_destroyed;
        dn_observer *observer = NULL;
        int r = dn_center_observe_prefix(dn_center_darwin(), "P", TALLY_HANDLER(&seen), NULL,
                                         &observer);

        n_until_failure = -1;
        tally_drop(observer);
        CHECK_EQ(seen.n_destroyed, n_before + 1);
        return r;
}

static dn__topic *prefix;

static void drop_prefix(void)
{
        dn__topic_give_back(prefix);
}

/* Another thread drops it before the memory is there. */
TEST_NO_BUS(aTableIsNotFollowedForAPrefixThatIsDroppedMeanwhile)
{
        static tally first;
        dn__name name;

        require_failing_allocator();
        test_bus_use_none();
        tally_observe(dn_center_darwin(), "first", &first);
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        dn__region *region = atomic_load(&hub->member.region);
        CHECK_EQ(dn__name_init_prefix(&name, "P", DN__REACH_BEYOND), 0);
        prefix = dn__topic_acquire(hub, &name);
        at_allocation = drop_prefix;
        CHECK_EQ(dn__prefix_begin(hub), 0);
        CHECK(!at_allocation);
        CHECK(!(atomic_load(&region->table->followers[region->process / 64]) >>
                        region->process % 64 &
                1));
}

static _Atomic unsigned n_runs;

static void note_run(void *argument)
{
        n_runs++;
}

static int enqueue(void)
{
        unsigned n_before = n_runs;
        int r = dn_center_enqueue(dn_center_darwin(), note_run, NULL);

        n_until_failure = -1;
        if (r == 0)
                WAIT_UNTIL(n_runs > n_before);
        CHECK_EQ(n_runs, n_before + (r == 0));
        return r;
}

TEST(whatNeedsTheThreadsOfACenterSucceedsCompletelyOrNotAtAll)
{
        require_failing_allocator();
        test_bus_begin();
        static tally first;

        tally_observe(dn_center_darwin(), "first", &first);
        CHECK(fail_each(observe_bus_and_cancel) > 2);
        CHECK(fail_each(observe_prefix_and_cancel) > 2);
        CHECK(fail_each(enqueue) > 0);
}

static char next_name[32];
static unsigned n_observed;

static int observe_next(void)
{
        int r = dn_center_observe(dn_center_darwin(), next_name, TALLY_HANDLER(&seen), NULL, NULL);

        n_until_failure = -1;
        n_observed += r == 0; /* also without what it can do without */
        return r;
}

/* Whatever has room for all names grows meanwhile. */
TEST(everyNameIsRegisteredCompletelyOrNotAtAll)
{
        require_failing_allocator();
        test_bus_begin();
        for (unsigned i = 0; i < 70; i++) {
                snprintf(next_name, sizeof next_name, "N.%u", i);
                CHECK(fail_each(observe_next) > 2);
        }
        CHECK_EQ(statistic(DN_STATISTIC_OBSERVERS), n_observed);
}

TEST(registrationFailsCompletelyOrNotAtAll)
{
        require_failing_allocator();
        test_bus_begin();
        static tally first;

        tally_observe(dn_center_darwin(), "first", &first); /* makes the table */
        CHECK(fail_each(observe_and_cancel) > 2);
}

static int add_and_remove(void)
{
        int r = dn_center_add_observer(dn_center_local(), &seen, tally_callback, "N", NULL, 0);

        n_until_failure = -1;
        CHECK_EQ(dn_center_remove_every_observer(dn_center_local(), &seen), 0);
        return r;
}

static int post(void)
{
        return dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0);
}

TEST(observersHearPostsThatRanOutOfMemory)
{
        require_failing_allocator();
        test_bus_begin();
        uint64_t n_posts;

        tally_observe(dn_center_darwin(), "N", &seen);
        n_posts = (uint64_t)fail_each(post) + 1;
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(seen.n_posts, n_posts + 1);
}

/* --- Centers -------------------------------------------------------------------------------- */

static const char *address = "none";

static int open_and_close(void)
{
        dn_center *center = NULL;
        int r = dn_center_open(address, &center);

        if (r == 0)
                r = dn_center_post(center, "self.x", NULL, NULL, 0);
        n_until_failure = -1;
        dn_center_unref(center);
        return r;
}

TEST_ON_BUS(aCenterOfABusThatCannotBeOpenedIsRefused)
{
        require_failing_allocator();
        address = test_bus_address(test_bus_begin());
        CHECK(fail_each(open_and_close) > 2);
}

/* The thread for inline callbacks begins with the first one. */
static int open_and_observe(void)
{
        dn_center *center = NULL;
        dn_observer *observer = NULL;
        int r = dn_center_open("none", &center);

        if (r == 0)
                r = dn_center_observe(center, "self.x", TALLY_HANDLER(&seen),
                                      dn_executor_inline(), &observer);
        n_until_failure = -1;
        tally_drop(observer);
        dn_center_unref(center);
        return r;
}

TEST_NO_BUS(anInlineObserverNeedsMemoryForItsThread)
{
        require_failing_allocator();
        test_bus_use_none();
        CHECK(fail_each(open_and_observe) > 4);
}

static int open_and_ask(void)
{
        dn_center *center = NULL;
        uint64_t value;
        int r = dn_center_open("none", &center);

        if (r == 0)
                r = dn_center_get_statistic(center, DN_STATISTIC_OBSERVERS, &value);
        n_until_failure = -1;
        dn_center_unref(center);
        return r;
}

TEST_NO_BUS(theFirstCenterOfAProcessCanBeClosedWithoutMemory)
{
        require_failing_allocator();
        CHECK(fail_each(open_and_ask) > 1);
}

static int find_path(void)
{
        char path[PATH_MAX];
        int r = dn__table_copy_path(path);

        return r == -ENOENT ? 0 : r;
}

TEST_NO_BUS(thePathOfTheTableIsNotFoundWithoutMemory)
{
        require_failing_allocator();
        test_bus_use_none();
        CHECK(fail_each(find_path) > 0);
}

TEST_NO_BUS(aCenterThatCannotBeOpenedLeavesNothingBehind)
{
        size_t before;

        require_failing_allocator();
        (void)fail_each(open_and_close);
        before = mallinfo2().uordblks;
        for (int i = 0; i < 50; i++)
                (void)fail_each(open_and_close);
        CHECK(mallinfo2().uordblks < before + 5000); /* perhaps kept by the allocator */
}

static int begin_request(void)
{
        static outcome seen;

        return ask_begin(SERVICE, KIND("Nothing"), NULL, FOREVER, &seen, NULL);
}

TEST_ON_BUS(aRequestThatRanOutOfMemoryIsNotSent)
{
        int n_failures = 0, r = -ENOMEM;

        require_failing_allocator();
        test_bus_begin();
        test_child *service = spawn_service();

        for (int n = 0; r != 0; n++) {
                WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()) == 1 && dn_flush(100000) == 0);
                n_until_failure = n;
                r = begin_request();
                n_until_failure = -1;
                n_failures += r == -ENOMEM;
        }
        check_echo("last");
        CHECK(n_failures > 3);
        CHECK_EQ(served_number(service, "begun"), 2);
        CHECK_EQ(test_child_wait(service), 0);
}

static int make_loop(void)
{
        dn_loop *loop = NULL;
        int r = dn_loop_new(&loop);

        CHECK_EQ(r == 0, loop != NULL);
        dn_loop_close(loop);
        return r;
}

static void do_nothing(void)
{
}

/* The C library has room for some handlers. */
TEST_NO_BUS(aProcessThatCannotNoticeItsForksHasNoLoop)
{
        int n_handlers = 0;

        require_failing_allocator();
        do
                n_until_failure = 0;
        while (pthread_atfork(NULL, NULL, do_nothing) == 0 && n_handlers++ < 10000);
        n_until_failure = 0;
        CHECK_EQ(make_loop(), -ENOMEM);
}

static dn_dict *long_dict;
static char *whole_json;

static int copy_json(void)
{
        char *text = dn_dict_copy_json(long_dict);

        n_until_failure = -1;
        CHECK(!text || strcmp(text, whole_json) == 0);
        free(text);
        return text ? 0 : -ENOMEM;
}

/* The text is longer than a stream has room for at first. */
TEST_NO_BUS(aDictionaryIsWrittenWhollyOrNotAtAll)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        require_failing_allocator();
        for (int i = 0; i < 5000; i++)
                dn_dict_builder_set_int64(builder, FORMAT("key %d", i), i);
        long_dict = finish(builder);
        whole_json = dn_dict_copy_json(long_dict);
        CHECK(whole_json && strlen(whole_json) > 50000);
        CHECK(fail_each(copy_json) > 3);
        free(whole_json);
        dn_dict_unref(long_dict);
}

static int build_dict(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *dict = NULL;
        char *text;
        int r;

        dn_dict_builder_set_string(builder, "string", "text");
        dn_dict_builder_begin_array(builder, "array");
        for (int i = 0; i < 20; i++)
                dn_dict_builder_set_int64(builder, NULL, i);
        dn_dict_builder_end(builder);
        dn_dict_builder_begin_dict(builder, "dict");
        dn_dict_builder_set_bool(builder, "key", true);
        dn_dict_builder_end(builder);
        r = dn_dict_builder_finish(builder, &dict);
        CHECK_EQ(r == 0, dict != NULL);
        text = dn_dict_copy_json(dict);
        CHECK(!text || text[strlen(text) - 1] == '}');
        if (r == 0 && !text)
                r = -ENOMEM;
        free(text);
        dn_dict_unref(dict);
        return r;
}

TEST_NO_BUS(callsThatNeedNoBusSucceedCompletelyOrNotAtAll)
{
        static const struct {
                int (*call)(void);
                int n_least_failures;
        } rows[] = {{add_and_remove, 3}, {open_and_close, 2}, {make_loop, 1}, {build_dict, 11}};

        require_failing_allocator();
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                CHECK(fail_each(rows[i].call) >= rows[i].n_least_failures);
}

TEST_MAIN()
