/* The documented argument errors of every public function. */
#include <notify.h>
#include <stdlib.h>
#include <unistd.h>

#include "tally.h"
#include "test-child.h"

/* The rest is in util/test-text.c. */
static const char *const bad_names[] = {NULL, "", "\xff", "U+FFFF \xef\xbf\xbf"};

#define N_BAD_NAMES (sizeof bad_names / sizeof *bad_names)

static int n_executors_held;

static int refuse_work(void *context, dn_work_fn work, void *argument)
{
        (void)context;
        (void)work;
        (void)argument;
        return -ENOMEM;
}

static void retain_executor(void *context)
{
        (void)context;
        n_executors_held++;
}

static void release_executor(void *context)
{
        (void)context;
        n_executors_held--;
}

static const dn_executor counted = {refuse_work, NULL, retain_executor, release_executor};

/* Refused: but the handler is consumed, the executor is not kept, and nothing is written. */
static void check_refused(dn_center *center, const char *name, dn_handler handler,
                          const dn_executor *executor, int result)
{
        dn_observer *untouched = (dn_observer *)&counted;
        tally *context = handler.context;
        uint64_t n_handlers = context->n_destroyed;

        CHECK_EQ(dn_center_observe(center, name, handler, executor, &untouched), result);
        CHECK(untouched == (dn_observer *)&counted);
        CHECK_EQ(context->n_destroyed, n_handlers + 1);
        CHECK_EQ(n_executors_held, 0);
        CHECK_EQ(context->n_calls, 0);
}

TEST_NO_BUS(everyFunctionRefusesMalformedNames)
{
        dn_center *centers[] = {dn_center_darwin(), dn_center_local(), dn_center_distributed()};
        static tally seen = {0};

        for (size_t i = 0; i < 3 * N_BAD_NAMES; i++) {
                dn_center *center = centers[i / N_BAD_NAMES];
                const char *name = bad_names[i % N_BAD_NAMES];

                CHECK_EQ(dn_center_post(center, name, NULL, NULL, 0), -EINVAL);
                if (!name && center != dn_center_darwin())
                        continue; /* they have observers of every name */
                check_refused(center, name, tally_handler(&seen),
                              center == dn_center_local() ? NULL : &counted, -EINVAL);
                CHECK_EQ(dn_center_add_observer(center, &seen, tally_callback, name, NULL, 0),
                         -EINVAL);
        }
}

TEST_NO_BUS(onlyNamesAboveTheLimitAreTooLong)
{
        char name[DN_NAME_MAX_BYTES + 2];
        static tally seen = {0};

        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        check_refused(dn_center_darwin(), name, tally_handler(&seen), &counted, -ENAMETOOLONG);
        CHECK_EQ(dn_center_add_observer(dn_center_darwin(), &seen, tally_callback, name, NULL, 0),
                 -ENAMETOOLONG);
        CHECK_EQ(dn_center_post(dn_center_darwin(), name, NULL, NULL, 0), -ENAMETOOLONG);

        name[DN_NAME_MAX_BYTES] = '\0';
        CHECK_EQ(dn_center_post(dn_center_darwin(), name, NULL, NULL, 0), 0);
}

TEST_NO_BUS(observeRefusesMissingArguments)
{
        static tally seen = {0};
        dn_handler no_invoke = {.context = &seen, .destroy = tally_destroy};

        check_refused(NULL, "N", tally_handler(&seen), &counted, -EINVAL);
        check_refused(dn_center_darwin(), "N", no_invoke, &counted, -EINVAL);
        check_refused(dn_center_local(), "N", tally_handler(&seen), &counted, -EINVAL);
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

TEST_NO_BUS(openRefusesMissingArguments)
{
        dn_center *untouched = NULL;

        CHECK_EQ(dn_center_open(NULL, &untouched), -EINVAL);
        CHECK_EQ(dn_center_open("", &untouched), -EINVAL);
        CHECK_EQ(dn_center_open("not an address", &untouched), -EINVAL);
        CHECK_EQ(dn_center_open("unix:path", &untouched), -EINVAL);
        CHECK_EQ(dn_center_open(":path=/x", &untouched), -EINVAL);
        CHECK_EQ(dn_center_open("session", NULL), -EINVAL);
        CHECK(!untouched);
}

ROLE(useAMistypedBus)
{
        static tally seen;
        int token;

        (void)args, (void)n_args;
        CHECK_EQ(setenv("DARWIN_NOTIFY_BUS", "sesion", 1), 0);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(dn_center_distributed(), "N", NULL, NULL, 0), -EINVAL);
        check_refused(dn_center_darwin(), "N", tally_handler(&seen), NULL, -EINVAL);
        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_FAILED);
        CHECK_EQ(notify_register_check("N", &token), NOTIFY_STATUS_FAILED);
        CHECK_EQ(dn_center_post(dn_center_local(), "N", NULL, NULL, 0), 0);
        return 0;
}

TEST_NO_BUS(aMistypedBusIsAnError)
{
        CHECK_EQ(test_child_wait(test_spawn_role("useAMistypedBus", NULL)), 0);
}

TEST_NO_BUS(setExecutorDoesNotKeepARefusedExecutor)
{
        CHECK_EQ(dn_center_set_executor(NULL, &counted), -EINVAL);
        CHECK_EQ(n_executors_held, 0);
        CHECK_EQ(dn_center_set_executor(dn_center_local(), &counted), -EINVAL);
        CHECK_EQ(n_executors_held, 0);
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

TEST_NO_BUS(replaceRefusesMissingArguments)
{
        dn_observer *untouched = NULL;
        static tally old = {0}, new = {0};
        dn_handler no_invoke = {.context = &new, .destroy = tally_destroy};
        dn_observer *observer = tally_observe(dn_center_local(), "N", &old);

        CHECK_EQ(dn_observer_replace(NULL, tally_handler(&new), &counted, &untouched), -EINVAL);
        CHECK_EQ(new.n_destroyed, 1);
        CHECK_EQ(n_executors_held, 0);
        CHECK_EQ(dn_observer_replace(observer, no_invoke, NULL, &untouched), -EINVAL);
        CHECK_EQ(new.n_destroyed, 2);
        CHECK_EQ(dn_observer_replace(observer, tally_handler(&new), &counted, &untouched),
                 -EINVAL);
        CHECK_EQ(new.n_destroyed, 3);
        CHECK_EQ(n_executors_held, 0);
        post_ok(dn_center_local(), "N");
        CHECK_EQ(old.n_calls, 1);

        dn_observer_cancel(observer);
        CHECK_EQ(dn_observer_replace(observer, tally_handler(&new), NULL, &untouched), -EINVAL);
        CHECK_EQ(new.n_destroyed, 4);
        CHECK(!untouched);
        dn_observer_unref(observer);
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

TEST_NO_BUS(namesOfOtherUsersMayNotBePosted)
{
        int is_root = geteuid() == 0;

        CHECK_EQ(dn_may_post("user.uid"), 1);
        CHECK_EQ(dn_may_post("self.user.uid.4294967294"), 1);
        CHECK_EQ(dn_may_post("user.uid.4294967294"), is_root);
        CHECK_EQ(dn_may_post("com.apple.system.x"), is_root);
        CHECK_EQ(dn_may_post(NULL), -EINVAL);
        CHECK_EQ(dn_may_post(""), -EINVAL);
        CHECK_EQ(dn_may_post("\xff"), -EINVAL);
}

static void check_executor_is_refused(dn_observer *observer, const dn_executor *executor)
{
        dn_observer *untouched = NULL;
        static tally new;

        new.n_destroyed = 0;
        check_refused(dn_center_darwin(), "self.x", tally_handler(&new), executor, -EINVAL);
        CHECK_EQ(dn_observer_replace(observer, tally_handler(&new), executor, &untouched), -EINVAL);
        CHECK_EQ(new.n_destroyed, 2);
        CHECK(!untouched);
        CHECK_EQ(dn_center_set_executor(dn_center_darwin(), executor), -EINVAL);
        CHECK_EQ(n_executors_held, 0);
}

TEST_NO_BUS(executorsThatCannotEnqueueAreRefused)
{
        const dn_executor empty = {.retain = retain_executor, .release = release_executor};
        const dn_executor of_no_loop = dn_loop_executor(NULL);
        static tally old = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "self.x", &old);

        check_executor_is_refused(observer, &empty);
        check_executor_is_refused(observer, &of_no_loop);
        post_ok(dn_center_darwin(), "self.x"); /* as if the refused calls had not happened */
        WAIT_UNTIL_EQ(old.n_calls, 1);
        CHECK_EQ(old.n_destroyed, 0);
}

TEST_MAIN()
