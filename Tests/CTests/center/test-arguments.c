/* The documented argument errors of every public function. */
#include <notify.h>
#include <stdlib.h>
#include <unistd.h>

#include "executors.h"
#include "tally.h"

static const dn_executor counted = {.enqueue = refuse_work, .retain = retain_executor,
                                    .release = release_executor};

/* Refused: but the handler is consumed, the executor is not kept, and nothing is written. */
static void check_refused(dn_center *center, const char *name, const dn_handler *handler,
                          const dn_executor *executor, int result)
{
        dn_observer *untouched = (dn_observer *)&counted;
        tally *context = handler->context;
        uint64_t n_handlers = context->n_destroyed;

        CHECK_EQ(dn_center_observe(center, name, handler, executor, &untouched), result);
        CHECK(untouched == (dn_observer *)&counted);
        CHECK_EQ(context->n_destroyed, n_handlers + 1);
        CHECK_EQ(n_executors_retained, 0);
        CHECK_EQ(context->n_calls, 0);
}

/* A name, which may be too long for centers other than the local one. */
static void check_name_is_refused(dn_center *center, const char *name, int result)
{
        static tally seen;

        CHECK_EQ(dn_center_post(center, name, NULL, NULL, 0), result);
        if (!name && center != dn_center_darwin())
                return; /* they have observers of every name */
        check_refused(center, name, TALLY_HANDLER(&seen),
                      center == dn_center_local() ? NULL : &counted, result);
        CHECK_EQ(dn_center_add_observer(center, &seen, tally_callback, name, NULL, 0), result);
}

/* The rest is in post/test-name.c. */
TEST_NO_BUS(everyFunctionRefusesMalformedNames)
{
        static const char *const names[] = {NULL, "", "\xff", "U+FFFF \xef\xbf\xbf"};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                check_name_is_refused(dn_center_darwin(), names[i], -EINVAL);
                check_name_is_refused(dn_center_local(), names[i], -EINVAL);
                check_name_is_refused(dn_center_distributed(), names[i], -EINVAL);
        }
}

TEST_NO_BUS(onlyNamesAboveTheLimitAreTooLong)
{
        char name[DN_NAME_MAX_BYTES + 2];

        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        check_name_is_refused(dn_center_darwin(), name, -ENAMETOOLONG);
        check_name_is_refused(dn_center_distributed(), name, -ENAMETOOLONG);
        name[DN_NAME_MAX_BYTES] = '\0';
        CHECK_EQ(dn_center_post(dn_center_darwin(), name, NULL, NULL, 0), 0);
}

TEST_NO_BUS(observeRefusesMissingArguments)
{
        static tally seen = {0};
        dn_handler no_invoke = {.context = &seen, .destroy = tally_destroy};

        check_refused(NULL, "N", TALLY_HANDLER(&seen), &counted, -EINVAL);
        check_refused(dn_center_darwin(), "N", &no_invoke, &counted, -EINVAL);
        check_refused(dn_center_local(), "N", TALLY_HANDLER(&seen), &counted, -EINVAL);
}

static void check_filter_is_refused(dn_center *center, const dn_filter *filter, int result)
{
        static tally seen;
        uint64_t n_before = seen.n_destroyed;
        dn_observer *untouched = NULL;

        CHECK_EQ(dn_center_observe_filtered(center, filter, TALLY_HANDLER(&seen), NULL, &untouched),
                 result);
        CHECK_EQ(seen.n_destroyed, n_before + 1);
        CHECK(!untouched);
}

TEST_NO_BUS(malformedFiltersAreRefused)
{
        dn_center *center = dn_center_distributed();
        char too_long[DN_NAME_MAX_BYTES + 2] = {0};

        memset(too_long, 'n', sizeof too_long - 1);
        check_filter_is_refused(center, NULL, -EINVAL);
        check_filter_is_refused(center, &(dn_filter){.name = "N", .prefix = ""}, -EINVAL);
        check_filter_is_refused(center, &(dn_filter){.name = "N", .object = "\xff"}, -EINVAL);
        check_filter_is_refused(center, &(dn_filter){.prefix = "\xc3"}, -EINVAL);
        check_filter_is_refused(dn_center_darwin(), &(dn_filter){.prefix = "\xff"}, -EINVAL);
        check_filter_is_refused(dn_center_darwin(), &(dn_filter){.prefix = too_long},
                                -ENAMETOOLONG);
        check_filter_is_refused(dn_center_local(), &(dn_filter){.prefix = "x"}, -EINVAL);
        check_filter_is_refused(NULL, &(dn_filter){.prefix = "x"}, -EINVAL);
        CHECK_EQ(dn_center_observe_prefix(center, NULL, &(dn_handler){.invoke = tally_invoke}, NULL,
                                          NULL),
                 -EINVAL);
}

TEST_NO_BUS(malformedObjectsAreRefused)
{
        dn_center *center = dn_center_distributed();
        char *large = calloc(1, DN_OBJECT_MAX_BYTES + 2);

        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        memset(large, 'o', DN_OBJECT_MAX_BYTES + 1);
        CHECK_EQ(dn_center_post(center, "N", "\xff", NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, "N", large, NULL, 0), -E2BIG);
        check_filter_is_refused(center, &(dn_filter){.object = large}, -E2BIG);
        large[DN_OBJECT_MAX_BYTES] = '\0';
        CHECK_EQ(dn_center_post(center, "N", large, NULL, 0), DN_NOT_CONNECTED);
        free(large);
}

TEST_NO_BUS(addAndRemoveRefuseMissingArguments)
{
        dn_center *local = dn_center_local();
        static tally seen = {0};

        CHECK_EQ(dn_center_add_observer(NULL, &seen, tally_callback, "N", NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_add_observer(local, &seen, NULL, "N", NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_remove_observer(NULL, &seen, "N", NULL), -EINVAL);
        CHECK_EQ(dn_center_remove_observer(local, NULL, "N", NULL), -EINVAL);
        CHECK_EQ(dn_center_remove_every_observer(NULL, &seen), -EINVAL);
        CHECK_EQ(dn_center_remove_every_observer(local, NULL), -EINVAL);
        CHECK_EQ(dn_center_post(NULL, "N", NULL, NULL, 0), -EINVAL);
}

TEST_NO_BUS(removingNothingIsNotAnError)
{
        static tally seen = {0};

        CHECK_EQ(dn_center_remove_observer(dn_center_local(), &seen, "N", NULL), 0);
        CHECK_EQ(dn_center_remove_observer(dn_center_darwin(), &seen, NULL, NULL), 0);
        CHECK_EQ(dn_center_remove_every_observer(dn_center_local(), &seen), 0);
        CHECK_EQ(dn_center_remove_every_observer(dn_center_darwin(), &seen), 0);
}

TEST_NO_BUS(unknownBehaviorsAndOptionsAreAccepted)
{
        const int behaviors[] = {0, 1, 2, 3, 4, 5, -1, 1 << 30};
        static tally seen = {0};

        for (int i = 0; i < 8; i++)
                CHECK_EQ(dn_center_add_observer(dn_center_local(), &seen, tally_callback, "N",
                                                NULL, behaviors[i]),
                         0);
        for (unsigned options = 0; options < 8; options++)
                CHECK_EQ(dn_center_post(dn_center_local(), "N", NULL, NULL, options), 0);
        CHECK_EQ(dn_center_post(dn_center_local(), "N", NULL, NULL, ~0U), 0);
        CHECK_EQ(seen.n_calls, 8 * 9);
}

TEST_NO_BUS(openRefusesWhatIsNoAddress)
{
        static const char *const addresses[] = {NULL, "", "not an address", "unix:path",
                                                ":path=/x"};
        dn_center *untouched = NULL;

        for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
                CHECK_EQ(dn_center_open(addresses[i], &untouched), -EINVAL);
        CHECK_EQ(dn_center_open("session", NULL), -EINVAL);
        CHECK(!untouched);
}

/* Each case has a process of its own, which decides once. */
TEST_NO_BUS(aMistypedBusIsAnError)
{
        int token;

        CHECK_EQ(setenv("DARWIN_NOTIFY_BUS", "sesion", 1), 0);
        check_name_is_refused(dn_center_darwin(), "N", -EINVAL);
        check_name_is_refused(dn_center_distributed(), "N", -EINVAL);
        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_FAILED);
        CHECK_EQ(notify_register_check("N", &token), NOTIFY_STATUS_FAILED);
        CHECK_EQ(dn_center_post(dn_center_local(), "N", NULL, NULL, 0), 0);
}

TEST_NO_BUS(setExecutorDoesNotKeepARefusedExecutor)
{
        CHECK_EQ(dn_center_set_executor(NULL, &counted), -EINVAL);
        CHECK_EQ(dn_center_set_executor(dn_center_local(), &counted), -EINVAL);
        CHECK_EQ(n_executors_retained, 0);
        CHECK_EQ(dn_center_set_executor(dn_center_local(), NULL), -EINVAL);
        CHECK_EQ(dn_center_set_executor(dn_center_darwin(), NULL), 0);
}

TEST_NO_BUS(centersSayHowTheyCompareObjects)
{
        CHECK_EQ(dn_center_get_objects(dn_center_darwin()), DN_OBJECTS_NONE);
        CHECK_EQ(dn_center_get_objects(dn_center_local()), DN_OBJECTS_POINTERS);
        CHECK_EQ(dn_center_get_objects(dn_center_distributed()), DN_OBJECTS_TEXTS);
        CHECK_EQ(dn_center_get_objects(NULL), -EINVAL);
}

static void ignore_bus(dn_center *center, bool is_on_bus, void *context)
{
}

static void check_replacement_is_refused(dn_observer *observer, const dn_handler *handler,
                                         const dn_executor *executor)
{
        dn_observer *untouched = NULL;
        tally *context = handler->context;
        uint64_t n_before = context->n_destroyed;

        CHECK_EQ(dn_observer_replace(observer, handler, executor, &untouched), -EINVAL);
        CHECK_EQ(context->n_destroyed, n_before + 1);
        CHECK_EQ(n_executors_retained, 0);
        CHECK(!untouched);
}

/* A program that sets one was written for a later version of the library. */
TEST_NO_BUS(reservedWordsOfHandlersAndFiltersMustBeZero)
{
        static tally old = {0}, seen = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "self.x", &old);
        dn_handler later = {.invoke = tally_invoke, .context = &seen, .destroy = tally_destroy};
        dn_bus_handler of_bus = {.invoke = ignore_bus, .context = &seen, .destroy = tally_destroy,
                                 .reserved = {1}};

        for (int i = 0; i < 2; i++) {
                later.reserved[i] = 1;
                check_refused(dn_center_darwin(), "self.x", &later, NULL, -EINVAL);
                check_replacement_is_refused(observer, &later, NULL);
                later.reserved[i] = 0;
        }
        check_filter_is_refused(dn_center_darwin(), &(dn_filter){.name = "N", .reserved = {1}},
                                -EINVAL);
        seen.n_destroyed = 0;
        CHECK_EQ(dn_center_observe_bus(dn_center_darwin(), &of_bus, NULL, NULL), -EINVAL);
        CHECK_EQ(seen.n_destroyed, 1);
        tally_drop(observer);
}

TEST_NO_BUS(handlersMustNotBeNull)
{
        static tally seen = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "self.x", &seen), *untouched;

        untouched = observer;
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "self.x", NULL, NULL, &untouched), -EINVAL);
        CHECK_EQ(dn_center_observe_prefix(dn_center_darwin(), "x", NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_observe_bus(dn_center_darwin(), NULL, NULL, &untouched), -EINVAL);
        CHECK_EQ(dn_observer_replace(observer, NULL, NULL, &untouched), -EINVAL);
        CHECK(untouched == observer);
        post_ok(dn_center_darwin(), "self.x");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

TEST_NO_BUS(replaceRefusesMissingArguments)
{
        static tally old = {0}, new = {0};
        dn_handler no_invoke = {.context = &new, .destroy = tally_destroy};
        dn_observer *observer = tally_observe(dn_center_local(), "N", &old);

        check_replacement_is_refused(NULL, TALLY_HANDLER(&new), &counted);
        check_replacement_is_refused(observer, &no_invoke, NULL);
        check_replacement_is_refused(observer, TALLY_HANDLER(&new), &counted);
        post_ok(dn_center_local(), "N");
        CHECK_EQ(old.n_calls, 1);
        dn_observer_cancel(observer);
        check_replacement_is_refused(observer, TALLY_HANDLER(&new), NULL);
        dn_observer_unref(observer);
}

TEST_NO_BUS(unknownStatisticsAreRefused)
{
        uint64_t value = 7;

        CHECK_EQ(dn_center_get_statistic(NULL, DN_STATISTIC_NAMES, &value), -EINVAL);
        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_NAMES, NULL), -EINVAL);
        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_OBSERVERS - 1, &value),
                 -EINVAL);
        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_TABLE_ID + 1, &value),
                 -EINVAL);
        CHECK_EQ(value, 7);
}

TEST_NO_BUS(loopFunctionsRefuseMissingArguments)
{
        CHECK_EQ(dn_loop_new(NULL), -EINVAL);
        CHECK_EQ(dn_loop_get_fd(NULL), -EINVAL);
        CHECK_EQ(dn_loop_process(NULL), -EINVAL);
        CHECK(!dn_loop_close(NULL));
}

TEST_NO_BUS(observerFunctionsAcceptNull)
{
        dn_observer_cancel(NULL);
        dn_observer_cancel_wait(NULL);
        CHECK(!dn_observer_ref(NULL));
        CHECK(!dn_observer_unref(NULL));
}

TEST_NO_BUS(namesOfOtherUsersMayNotBeUsed)
{
        int is_root = geteuid() == 0;

        CHECK_EQ(dn_may_post("user.uid"), 1);
        CHECK_EQ(dn_may_post("self.user.uid.4294967294"), 1);
        CHECK_EQ(dn_may_post("user.uid.4294967294"), is_root);
        CHECK_EQ(dn_may_post("com.apple.system.x"), is_root);
        CHECK_EQ(dn_may_post(NULL), -EINVAL);
        CHECK_EQ(dn_may_post(""), -EINVAL);
        CHECK_EQ(dn_may_post("\xff"), -EINVAL);
        if (is_root)
                CHECK_EQ(seteuid(65534), 0);
        check_filter_is_refused(dn_center_darwin(), &(dn_filter){.prefix = "user.uid.1."}, -EACCES);
        CHECK_EQ(seteuid(getuid()), 0); /* the leak sanitizer has to attach to this process */
}

static void check_executor_is_refused(dn_observer *observer, const dn_executor *executor)
{
        static tally new;

        check_refused(dn_center_darwin(), "self.x", TALLY_HANDLER(&new), executor, -EINVAL);
        check_replacement_is_refused(observer, TALLY_HANDLER(&new), executor);
        CHECK_EQ(dn_center_set_executor(dn_center_darwin(), executor), -EINVAL);
        CHECK_EQ(n_executors_retained, 0);
}

TEST_NO_BUS(executorsThatCannotEnqueueAreRefused)
{
        const dn_executor empty = {.retain = retain_executor, .release = release_executor};
        const dn_executor later = {.enqueue = refuse_work, .retain = retain_executor,
                                   .release = release_executor, .reserved = {0, 1}};
        static tally old = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "self.x", &old);

        check_executor_is_refused(observer, &empty);
        check_executor_is_refused(observer, dn_loop_executor(NULL));
        check_executor_is_refused(observer, &later);
        post_ok(dn_center_darwin(), "self.x"); /* as if the refused calls had not happened */
        WAIT_UNTIL_EQ(old.n_calls, 1);
        CHECK_EQ(old.n_destroyed, 0);
}

TEST_MAIN()
