/* Services: their names, what they export, whom they answer. */
#include <limits.h>
#include <poll.h>
#include <pthread.h>

#include "executors.h"
#include "requests.h"

TEST_ON_BUS(takenNameIsAnErrorOrWaitedFor)
{
        test_bus_begin();
        test_child *first = spawn_service();
        test_child *refused = test_spawn_role("serve", NULL);
        test_child *second = test_spawn_role("serve", "queue", NULL);

        CHECK_EQ(atoi(test_child_read_line(refused)), -EEXIST);
        CHECK_EQ(test_child_wait(refused), 0);
        CHECK_EQ(atoi(test_child_read_line(second)), DN_NAME_QUEUED);
        CHECK_EQ(served_number(second, "owns"), 0);
        check_echo("to the first");
        CHECK_EQ(served_number(first, "begun"), 1);
        test_child_kill(first);
        WAIT_UNTIL_EQ(served_number(second, "owns"), 1);
        check_echo("to the second");
        CHECK_EQ(served_number(second, "begun"), 1);
        CHECK_EQ(test_child_wait(second), 0);
}

static served own;
static dn_service *own_service;
static _Atomic int opened = INT_MAX;

static void open_service(const dn_outcome *came, void *context)
{
        opened = serve(SERVICE, 0, &own, &own_service);
}

TEST_ON_BUS(aServiceOpenedOnTheThreadThatReadsTheBusWaitsForItsName)
{
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Nothing"), .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = open_service};
        const dn_executor *executor = dn_executor_inline();

        test_bus_begin();
        test_child *first = spawn_service();
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, executor, NULL), 0);
        WAIT_UNTIL_EQ(opened, DN_NAME_QUEUED);
        CHECK_EQ(test_child_wait(first), 0);
        WAIT_UNTIL(dn_service_has_name(own_service));
}

TEST_ON_BUS(requestsInProgressSurviveTheLossOfTheName)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen, later;

        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, NULL), 0);
        WAIT_UNTIL_EQ(served_number(service, "begun"), 1);
        CHECK_EQ(served_number(service, "close"), 0);
        CHECK_EQ(ask(KIND("Echo"), "late", &later), -ENXIO);
        CHECK_EQ(seen.n_ends, 0);
        CHECK_EQ(served_number(service, "destroyed"), 0);
        (void)test_child_ask(service, "answer");
        CHECK_EQ(outcome_wait(&seen), 0);
        WAIT_UNTIL_EQ(served_number(service, "destroyed"), 1);
        dn_dict_unref(seen.reply);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(oneProcessHasSeveralServicesAndCallsThem)
{
        test_bus_begin();
        served first = {0}, second = {0}, third = {0};
        dn_service *services[3], *none = NULL;
        outcome seen;

        CHECK_EQ(serve(SERVICE, 0, &first, &services[0]), 0);
        CHECK_EQ(serve("org.example.Test.More-2", 0, &second, &services[1]), 0);
        CHECK_EQ(serve("com.example.Other", 0, &third, &services[2]), 0);
        CHECK_EQ(serve(SERVICE, 0, &first, &none), -EEXIST);
        CHECK(!none);
        CHECK_EQ(dn_service_unexport(services[1], KIND("Echo")), 0);
        CHECK_EQ(dn_service_unexport(services[1], KIND("Echo")), -EINVAL);
        CHECK_EQ(dn_service_unexport(services[1], NULL), -EINVAL);
        CHECK_EQ(dn_service_export(services[1], "NoInterface"), -EINVAL);
        check_echo("own");
        CHECK(first.was_own && first.process == getpid());
        CHECK_EQ(ask_begin("org.example.Test.More-2", KIND("Echo"), NULL, FOREVER, &seen, NULL), 0);
        CHECK_EQ(outcome_wait(&seen), -EREMOTEIO);
        CHECK_EQ(ask_begin("org.example.Test.More-2", KIND("Nothing"), NULL, FOREVER, &seen, NULL),
                 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(ask_begin("com.example.Other", KIND("Nothing"), NULL, FOREVER, &seen, NULL), 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(first.n_begun + 10 * second.n_begun + 100 * third.n_begun, 111);
        for (int i = 0; i < 3; i++)
                dn_service_close(services[i]);
        WAIT_UNTIL_EQ(first.n_destroyed + 10 * second.n_destroyed + 100 * third.n_destroyed,
                      112); /* one failed */
}

TEST_ON_BUS(kindsAreExportedAndWithdrawnWhileRunning)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        check_echo("before");
        (void)test_child_ask(service, "unexport");
        CHECK_EQ(ask(KIND("Echo"), NULL, &seen), -EREMOTEIO);
        CHECK_STREQ(seen.error_name, "org.freedesktop.DBus.Error.UnknownMethod");
        (void)test_child_ask(service, "export");
        (void)test_child_ask(service, "export");
        check_echo("after");
        CHECK_EQ(test_child_wait(service), 0);
}

/* --- Where handlers run --------------------------------------------------------------------- */

/* The names of the threads that functions of a handler ran on. */
typedef struct threads {
        char allow[16], invoke[16], cancel[16];
        _Atomic bool has_begun, was_cancelled;
        dn_request *request;
} threads;

static void note_thread(char ret_name[16])
{
        CHECK_EQ(pthread_getname_np(pthread_self(), ret_name, 16), 0);
}

static bool threads_allow(const dn_request_info *info, void *context)
{
        note_thread(((threads *)context)->allow);
        return true;
}

static void threads_invoke(dn_request *request, const dn_request_info *info, void *context)
{
        note_thread(((threads *)context)->invoke);
        ((threads *)context)->request = request;
        ((threads *)context)->has_begun = true;
}

static void threads_cancel(uint64_t id, void *context)
{
        threads *seen = context;

        note_thread(seen->cancel);
        CHECK_EQ(dn_request_answer(seen->request, NULL), -ECANCELED);
        seen->was_cancelled = true;
}

static void check_threads(const dn_executor *executor, const char *name)
{
        threads seen = {0};
        dn_service_handler handler = {.allow = threads_allow, .invoke = threads_invoke,
                                      .cancel = threads_cancel, .context = &seen};
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        dn_service *service;
        outcome ended;
        dn_call *call;

        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, executor, &service), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &ended, &call), 0);
        WAIT_UNTIL(seen.has_begun);
        dn_call_cancel(call);
        CHECK_EQ(outcome_wait(&ended), -ECANCELED);
        dn_call_unref(call);
        WAIT_UNTIL(seen.was_cancelled);
        CHECK_STREQ(seen.allow, name);
        CHECK_STREQ(seen.invoke, name);
        CHECK_STREQ(seen.cancel, name);
        dn_service_close(service);
}

TEST_ON_BUS(handlersRunOnTheirExecutor)
{
        test_bus *bus = test_bus_begin();
        const dn_executor *executor = dn_executor_inline();

        check_threads(NULL, "dn-delivery");
        check_threads(executor, "dn-service");
        test_bus_stop(bus);
}

TEST_ON_BUS(aCancelledRequestCannotBeRefused)
{
        served handled = {0};
        dn_service *service;
        outcome seen;
        dn_call *call;

        test_bus_begin();
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, &call), 0);
        WAIT_UNTIL_EQ(handled.n_begun, 1);
        dn_call_cancel(call);
        WAIT_UNTIL_EQ(handled.n_cancelled, 1);
        CHECK_EQ(dn_request_refuse(handled.held[0], NULL, "late", NULL), -ECANCELED);
        dn_call_unref(call);
        dn_service_close(service);
}

TEST_ON_BUS(aRequestWhoseServiceWasClosedBeforeItBeganIsRefused)
{
        served handled = {0};
        dn_service_handler handler = served_handler(&handled);
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        dn_loop *loop = new_loop();
        struct pollfd wait = {dn_loop_get_fd(loop), POLLIN, 0};
        dn_service *service;
        outcome seen;

        test_bus_begin();
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, dn_loop_executor(loop),
                                 &service),
                 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), NULL, FOREVER, &seen, NULL), 0);
        CHECK_EQ(poll(&wait, 1, TEST_DEADLINE_US / 1000), 1);
        dn_service_close(service);
        CHECK_EQ(dn_loop_process(loop), 1);
        CHECK_EQ(outcome_wait(&seen), -EREMOTEIO);
        CHECK_STREQ(seen.error_name, DN_ERROR_UNAVAILABLE);
        CHECK_EQ(handled.n_begun, 0);
        dn_loop_close(loop);
}

/* --- Access --------------------------------------------------------------------------------- */

static uint64_t n_ignored(void)
{
        uint64_t n = 0;

        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_SIGNALS_IGNORED, &n), 0);
        return n;
}

static bool allow_by_text(const dn_request_info *info, void *context)
{
        CHECK_EQ(info->caller->process, getpid());
        CHECK_EQ(info->caller->user, geteuid());
        CHECK_EQ(info->caller->name[0], ':');
        return dn_dict_get_string(info->arguments, "text") != NULL;
}

TEST_ON_BUS(serviceDecidesWhomItAnswers)
{
        test_bus_begin();
        served handled = {0};
        dn_service_handler handler = served_handler(&handled);
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        dn_service *service;
        outcome seen;
        uint64_t n_before;

        handler.allow = allow_by_text;
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &service), 0);
        n_before = n_ignored();
        CHECK_EQ(ask(KIND("Echo"), NULL, &seen), -EACCES);
        CHECK(strstr(seen.message, "does not accept"));
        CHECK_EQ(handled.n_begun, 0);
        CHECK_EQ(n_ignored(), n_before + 1);
        check_echo("allowed");
        CHECK_EQ(n_ignored(), n_before + 1);
        dn_service_close(service);
}

/* --- Rest and end --------------------------------------------------------------------------- */

static bool nobody_wakes_up_for_300_ms(void)
{
        uint64_t before = test_n_switches_of_others();

        test_let_pass_ms(300);
        return test_n_switches_of_others() == before;
}

TEST_ON_BUS(idleServiceAndCallerDoNotWakeUp)
{
        test_bus_begin();
        served handled = {0};
        dn_service *service;
        outcome seen;
        int r;

        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("the sanitizer's own thread wakes up");
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        check_echo("once");
        do { /* again if a busy machine takes longer than that */
                CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), NULL, 10000, &seen, NULL), 0);
                r = outcome_wait(&seen);
        } while (r == -ETIMEDOUT);
        CHECK_EQ(r, 0);
        dn_dict_unref(seen.reply);
        /* The timeout stays until it has passed. */
        WAIT_UNTIL(nobody_wakes_up_for_300_ms());
        dn_service_close(service);
}

TEST_ON_BUS(shutdownEndsCallsAndClosesServices)
{
        test_bus_begin();
        test_child *other = spawn_service();
        served handled = {0};
        dn_service *service, *opened_again;
        outcome seen;

        for (int i = 0; i < 2; i++) {
                CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, NULL), 0);
                CHECK_EQ(serve("org.example.Test2", 0, &handled, &service), 0);
                CHECK_EQ(dn_shutdown(), 0);
                CHECK_EQ(seen.n_ends, 1);
                CHECK_EQ(seen.error, -ECANCELED);
                CHECK(!dn_service_has_name(service));
                CHECK_EQ(dn_service_export(service, KIND("Later")), -EINVAL);
                CHECK_EQ(serve("org.example.Test2", 0, &handled, &opened_again), 0);
                dn_service_close(service); /* which leaves the other one alone */
                CHECK_EQ(handled.n_destroyed, 2 * i + 1);
                CHECK(dn_service_has_name(opened_again));
                dn_service_close(opened_again);
                CHECK_EQ(handled.n_destroyed, 2 * i + 2);
        }
        check_echo("afresh");
        CHECK_EQ(dn_shutdown(), 0);
        CHECK_EQ(test_child_wait(other), 0);
}

TEST_ON_BUS(shutdownWaitsForHeldCallsAndUnansweredRequests)
{
        test_bus_begin();
        served handled = {0};
        dn_service *service;
        outcome seen;
        dn_call *call;

        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, &call), 0);
        WAIT_UNTIL_EQ(handled.n_held, 1);
        CHECK_EQ(dn_shutdown(), -EBUSY);
        CHECK_EQ(outcome_wait(&seen), -ECANCELED);
        check_answered(dn_request_answer(handled.held[0], NULL));
        CHECK_EQ(dn_shutdown(), -EBUSY);
        dn_call_unref(call);
        CHECK_EQ(dn_shutdown(), 0);
        dn_service_close(service);
        CHECK_EQ(handled.n_destroyed, 1);
}

TEST_ON_BUS(servicesOfOneObjectPathAreRefused)
{
        test_bus_begin();
        served handled = {0};
        dn_service *service, *other = NULL;

        CHECK_EQ(serve("org.example.a-b", 0, &handled, &service), 0);
        CHECK_EQ(serve("org.example.a_b", 0, &handled, &other), -EEXIST);
        CHECK(!other);
        dn_service_close(service);
        CHECK_EQ(serve("org.example.a_b", 0, &handled, &other), 0);
        dn_service_close(other);
}

static _Atomic unsigned n_asked, n_cancelled, n_ended, n_destroyed;
static dn_request *_Atomic asked;

static void count_request(dn_request *request, const dn_request_info *info, void *context)
{
        asked = request;
        n_asked++;
}

static void count_cancel(uint64_t id, void *context)
{
        n_cancelled++;
}

static void count_end(const dn_outcome *outcome, void *context)
{
        n_ended++;
}

static void ignore_change(bool has_name, void *context)
{
}

static void count_destroy(void *context)
{
        n_destroyed++;
}

/* A forked child inherits what waits in a queue of the host. */
static void run_kept_work_after_a_fork(_Atomic unsigned *counter)
{
        WAIT_UNTIL(is_kept);
        unsigned n_before = *counter;
        pid_t child = test_fork();
        if (child == 0) {
                run_kept_work();
                _exit(*counter == n_before ? 0 : 1);
        }
        CHECK_EQ(test_wait_for(child), 0);
        run_kept_work();
        CHECK_EQ(*counter, n_before + 1);
}

TEST_ON_BUS(forkedChildRunsNoHandlerOfItsParent)
{
        const dn_service_handler handler = {.invoke = count_request, .cancel = count_cancel};
        const dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        const dn_call_handler call_handler = {.ended = count_end};
        const dn_call_plan call_plan = {
                .service = SERVICE, .kind = KIND("Echo"), .timeout_us = FOREVER
        };
        const dn_executor executor = {.enqueue = keep_work};
        dn_service *service;
        dn_call *call;

        test_bus_begin();
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, &executor, &service), 0);
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &call_plan, &call_handler, &executor, NULL), 0);
        run_kept_work_after_a_fork(&n_asked);
        check_answered(dn_request_answer(asked, NULL));
        run_kept_work_after_a_fork(&n_ended);
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &call_plan, &call_handler, NULL, &call), 0);
        run_kept_work_after_a_fork(&n_asked);
        dn_call_cancel(call);
        run_kept_work_after_a_fork(&n_cancelled);
        CHECK_EQ(dn_request_answer(asked, NULL), -ECANCELED);
        dn_call_unref(call);
        dn_service_close(service);
}

/* The report of the name is the last to use the service. */
TEST_ON_BUS(forkedChildDestroysNoServiceOfItsParent)
{
        const dn_service_handler handler = {
                .invoke = count_request, .name_changed = ignore_change, .destroy = count_destroy
        };
        const dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        const dn_executor executor = {.enqueue = keep_work};
        dn_service *service;

        test_bus_begin();
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, &executor, &service), 0);
        WAIT_UNTIL(is_kept);
        dn_service_close(service);
        run_kept_work_after_a_fork(&n_destroyed);
}

TEST_ON_BUS(forkedChildLeavesItsParentsRequestsAlone)
{
        test_bus_begin();
        served handled = {0};
        dn_service *service;
        outcome seen;
        dn_call *call, *ended;

        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Nothing"), NULL, FOREVER, &seen, &ended), 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, &call), 0);
        WAIT_UNTIL_EQ(handled.n_begun, 2);
        pid_t child = test_fork();
        if (child == 0) {
                dn_call_cancel(call);
                dn_call_unref(ended);
                dn_request_answer(handled.held[0], NULL);
                dn_service_close(service);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(child), 0);
        check_echo("still there");
        dn_request_answer(handled.held[0], NULL);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        dn_call_unref(call);
        dn_call_unref(ended);
        dn_service_close(service);
}

TEST_MAIN()
