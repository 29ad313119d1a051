/* Requests between two processes: how they end. */
#include "requests.h"

TEST_ON_BUS(requestIsAnsweredByAnotherProcess)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        check_echo("hello");
        CHECK_EQ(ask(KIND("Nothing"), NULL, &seen), 0);
        CHECK_EQ(dn_dict_get_count(dn_dict_get_dict(seen.reply, DN_REPLY_VALUE)), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(served_number(service, "begun"), 2);
        CHECK_EQ(served_number(service, "process"), getpid());
        CHECK_EQ(served_number(service, "user"), geteuid());
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(errorsHaveNamesAndSentences)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        CHECK_EQ(ask(KIND("Refuse"), "org.example.Error.Sad", &seen), -EREMOTEIO);
        CHECK_STREQ(seen.error_name, "org.example.Error.Sad");
        CHECK_STREQ(seen.message, "for a reason");
        CHECK_EQ(ask(KIND("Refuse"), "not an error name", &seen), -EREMOTEIO);
        CHECK_STREQ(seen.error_name, DN_ERROR_FAILED);
        CHECK_EQ(ask(KIND("Unknown"), NULL, &seen), -EREMOTEIO);
        CHECK_STREQ(seen.error_name, "org.freedesktop.DBus.Error.UnknownMethod");
        CHECK(strstr(seen.message, KIND("Unknown")));
        CHECK_EQ(ask_begin("org.example.Nobody", KIND("Echo"), NULL, FOREVER, &seen, NULL), 0);
        CHECK_EQ(outcome_wait(&seen), -ENXIO);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(deathOfTheServiceEndsItsCallsAtOnce)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen[3];

        for (int i = 0; i < 3; i++)
                CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen[i], NULL), 0);
        WAIT_UNTIL_EQ(served_number(service, "begun"), 3);
        test_child_kill(service);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(outcome_wait(&seen[i]), -ECONNRESET);
        CHECK_EQ(ask(KIND("Echo"), NULL, &seen[0]), -ENXIO);
}

TEST_ON_BUS(lossOfTheBusEndsCallsAndItsReturnRestoresTheService)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, NULL), 0);
        WAIT_UNTIL_EQ(served_number(service, "begun"), 1);
        test_bus_kill(bus);
        CHECK_EQ(outcome_wait(&seen), -ENOTCONN);
        CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), NULL, FOREVER, &seen, NULL), -ENOTCONN);
        CHECK_EQ(seen.n_ends, 0);
        WAIT_UNTIL_EQ(served_number(service, "cancelled"), 1);
        CHECK_EQ(served_number(service, "answer"), 0); /* owns no name, and does no harm */
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(served_number(service, "owns"), 1);
        WAIT_UNTIL(ask_begin(SERVICE, KIND("Echo"), "again", FOREVER, &seen, NULL) == 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(cancellationCancelsTheHandler)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen, other;
        dn_call *call;

        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &other, NULL), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, &call), 0);
        WAIT_UNTIL_EQ(served_number(service, "begun"), 2);
        dn_call_cancel(call);
        dn_call_cancel(call);
        CHECK_EQ(outcome_wait(&seen), -ECANCELED);
        WAIT_UNTIL_EQ(served_number(service, "cancelled"), 1);
        (void)test_child_ask(service, "answer");
        CHECK_EQ(outcome_wait(&other), 0);
        dn_dict_unref(other.reply);
        dn_call_cancel(call);
        check_echo("next");
        CHECK_EQ(seen.n_ends, 1);
        dn_call_unref(call);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(timeoutEndsTheCallAndItsLateReplyIsIgnored)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen, later;

        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, 200000, &later, NULL), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, 1000, &seen, NULL), 0);
        CHECK_EQ(outcome_wait(&seen), -ETIMEDOUT);
        CHECK_EQ(outcome_wait(&later), -ETIMEDOUT);
        WAIT_UNTIL_EQ(served_number(service, "cancelled"), served_number(service, "begun"));
        (void)test_child_ask(service, "answer");
        check_echo("next");
        CHECK_EQ(seen.n_ends, 1);
        /* Without the cancellation it would come: the service stands still meanwhile. */
        test_child_pause(service);
        CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), "late", 1000, &seen, NULL), 0);
        CHECK_EQ(outcome_wait(&seen), -ETIMEDOUT);
        test_child_resume(service);
        check_echo("next");
        CHECK_EQ(seen.n_ends, 1);
        CHECK_EQ(test_child_wait(service), 0);
}

/* Holds as many requests as it is asked for, then waits for its end. */
ROLE(askAndHold)
{
        static outcome seen[DN_CALLS_MAX + 1];
        int n = atoi(args[0]), r = 0;

        for (int i = 0; i < n && r == 0; i++)
                r = ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen[i], NULL);
        printf("%d\n", r);
        fflush(stdout);
        return getchar() != EOF;
}

TEST_ON_BUS(deathOfTheCallerCancelsItsRequests)
{
        test_bus_begin();
        test_child *service = spawn_service();
        test_child *caller = test_spawn_role("askAndHold", "2", NULL);

        CHECK_STREQ(test_child_read_line(caller), "0");
        WAIT_UNTIL_EQ(served_number(service, "begun"), 2);
        test_child_kill(caller);
        WAIT_UNTIL_EQ(served_number(service, "cancelled"), 2);
        check_echo("next");
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(callsInProgressAreLimited)
{
        test_bus_begin();
        test_child *service = spawn_service();
        char too_many[16], limit[16];

        snprintf(limit, sizeof limit, "%d", DN_CALLS_MAX);
        snprintf(too_many, sizeof too_many, "%d", DN_CALLS_MAX + 1);
        test_child *caller = test_spawn_role("askAndHold", too_many, NULL);
        CHECK_EQ(atoi(test_child_read_line(caller)), -ENOBUFS);
        WAIT_UNTIL_EQ(served_number(service, "begun"), DN_CALLS_MAX);
        check_echo("another process");
        (void)test_child_ask(service, "answer");
        CHECK_EQ(test_child_wait(caller), 0);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(callsOfOneProcessBeginInOrder)
{
        test_bus_begin();
        test_child *service = spawn_service();
        static const char *const texts[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
        outcome seen[8];

        for (int i = 0; i < 8; i++)
                CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), texts[i], FOREVER, &seen[i], NULL), 0);
        for (int i = 0; i < 8; i++) {
                CHECK_EQ(outcome_wait(&seen[i]), 0);
                CHECK_STREQ(dn_dict_get_string(seen[i].reply, DN_REPLY_VALUE), texts[i]);
                dn_dict_unref(seen[i].reply);
        }
        CHECK_STREQ(test_child_ask(service, "order"), "abcdefgh");
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_NO_BUS(withoutABusNothingBegins)
{
        outcome seen;
        served handled = {0};
        dn_service *service;

        test_bus_use_none();
        CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), NULL, FOREVER, &seen, NULL), -ENOTCONN);
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), -ENOTCONN);
        CHECK_EQ(handled.n_destroyed, 1);
}

/* --- The context of a call ------------------------------------------------------------------- */

typedef struct ending {
        _Atomic unsigned n_ended;
        _Atomic unsigned n_destroyed;
} ending;

static void note_ending(const dn_outcome *came, void *context)
{
        ending *self = context;

        CHECK_EQ(self->n_destroyed, 0);
        self->n_ended++;
}

static void note_destroyed(void *context)
{
        ((ending *)context)->n_destroyed++;
}

/* Whatever becomes of the handle. */
TEST_ON_BUS(contextIsDestroyedOnceTheCallHasEnded)
{
        test_bus_begin();
        static ending kept, dropped;
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Hold"), .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = note_ending, .destroy = note_destroyed};
        test_child *service = spawn_service();
        dn_call *call;

        await_bus(dn_center_darwin());
        handler.context = &dropped;
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), 0);
        handler.context = &kept;
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, &call), 0);
        WAIT_UNTIL_EQ(served_number(service, "begun"), 2);
        CHECK_EQ(kept.n_destroyed + dropped.n_destroyed, 0);
        dn_call_cancel(call);
        WAIT_UNTIL_EQ(kept.n_destroyed, 1);
        test_child_kill(service);
        WAIT_UNTIL_EQ(dropped.n_destroyed, 1);
        CHECK(!dn_call_unref(call));
        CHECK_EQ(dn_shutdown(), 0);
        CHECK_EQ(kept.n_ended + dropped.n_ended, 2);
        CHECK_EQ(kept.n_destroyed + dropped.n_destroyed, 2);
}

TEST_NO_BUS(contextOfACallThatCannotBeginIsDestroyed)
{
        static ending seen;
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Echo")}, later = plan;
        dn_call_handler handler = {.ended = note_ending, .context = &seen,
                                   .destroy = note_destroyed};

        test_bus_use_none();
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), -ENOTCONN);
        CHECK_EQ(dn_call_begin(dn_center_local(), &plan, &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_call_begin(dn_center_darwin(), NULL, &handler, NULL, NULL), -EINVAL);
        later.reserved[0] = 1;
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &later, &handler, NULL, NULL), -EINVAL);
        handler.reserved[1] = 1;
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(seen.n_destroyed, 5);
        CHECK_EQ(seen.n_ended, 0);
}

TEST_NO_BUS(argumentsAreChecked)
{
        outcome seen;
        served handled = {0};
        dn_service_handler later = served_handler(&handled);
        dn_service_plan of_later = {.name = SERVICE};
        dn_service *service;
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Echo")};
        dn_call_handler handler = {.ended = outcome_note, .context = &seen};

        test_bus_use_none();
        CHECK_EQ(ask_begin(":1.2", KIND("Echo"), NULL, FOREVER, &seen, NULL), -EINVAL);
        CHECK_EQ(ask_begin(NULL, KIND("Echo"), NULL, FOREVER, &seen, NULL), -EINVAL);
        CHECK_EQ(ask_begin(SERVICE, "Echo", NULL, FOREVER, &seen, NULL), -EINVAL);
        CHECK_EQ(ask_begin(SERVICE, "a.b.not-a-member", NULL, FOREVER, &seen, NULL), -EINVAL);
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_call_begin(dn_center_local(), &plan, &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(serve("no-dots", 0, &handled, &service), -EINVAL);
        CHECK_EQ(serve(SERVICE, 64, &handled, &service), -EINVAL);
        later.reserved[0] = 1;
        CHECK_EQ(dn_service_open(dn_center_darwin(), &of_later, &later, NULL, &service), -EINVAL);
        later.reserved[0] = 0;
        of_later.reserved[1] = 1;
        CHECK_EQ(dn_service_open(dn_center_darwin(), &of_later, &later, NULL, &service), -EINVAL);
        CHECK_EQ(handled.n_destroyed, 4);
        CHECK_EQ(dn_service_export(NULL, KIND("Echo")), -EINVAL);
        CHECK_EQ(dn_request_answer(NULL, NULL), -EINVAL);
        dn_call_cancel(NULL);
        CHECK(!dn_call_unref(NULL) && !dn_service_close(NULL) && !dn_service_has_name(NULL));
}

TEST_MAIN()
