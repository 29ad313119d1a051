/* What may happen while the values of a call or of a reply are written. */
#include <dlfcn.h>

#include "requests.h"

/* Runs once, on the thread that writes data; NULL: nothing. */
static void (*while_writing)(void);

/* In place of that of sd-bus, which the library calls for data. */
int sd_bus_message_append_array(sd_bus_message *message, char type, const void *bytes,
                                size_t n_bytes)
{
        int (*original)(sd_bus_message *message, char type, const void *bytes, size_t n_bytes);
        void (*run)(void) = while_writing;

        original = (__typeof__(original))dlsym(RTLD_NEXT, "sd_bus_message_append_array");
        while_writing = NULL;
        if (run)
                run();
        return original(message, type, bytes, n_bytes);
}

static dn_dict *data(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_data(builder, DN_REPLY_VALUE, "bytes", 5);
        return finish(builder);
}

/* A call whose arguments are data. */
static int begin_writing(void (*meanwhile)(void), outcome *seen)
{
        dn_dict *arguments = data();
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Nothing"),
                             .arguments = arguments, .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = outcome_note, .context = seen};
        int r;

        await_bus(dn_center_darwin());
        *seen = (outcome){0};
        while_writing = meanwhile;
        r = dn_call_begin(dn_center_darwin(), &plan, &handler, dn_executor_inline(), NULL);
        CHECK(!while_writing);
        dn_dict_unref(arguments);
        return r;
}

/* --- Calls ---------------------------------------------------------------------------------- */

/* These use the connection. */
static void post(void)
{
        uint64_t n = 0;

        CHECK_EQ(dn_center_post(dn_center_darwin(), "a", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_SIGNALS_SENT, &n), 0);
        CHECK(n > 0);
}

TEST_ON_BUS(postsDoNotWaitForTheArgumentsOfACall)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        CHECK_EQ(begin_writing(post, &seen), 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(test_child_wait(service), 0);
}

static test_bus *bus;

static void replace_bus(void)
{
        test_bus_kill(bus);
        WAIT_UNTIL(!dn_center_is_on_bus(dn_center_darwin()));
        test_bus_start_again(bus);
        WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()));
}

TEST_ON_BUS(aCallIsNotSentToAnotherBusThanTheOneItWasWrittenFor)
{
        bus = test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        CHECK_EQ(begin_writing(replace_bus, &seen), -ENOTCONN);
        CHECK_EQ(seen.n_ends, 0);
        WAIT_UNTIL_EQ(served_number(service, "owns"), 1);
        CHECK_EQ(served_number(service, "begun"), 0);
        CHECK_EQ(begin_writing(NULL, &seen), 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(test_child_wait(service), 0);
}

/* --- Replies -------------------------------------------------------------------------------- */

static served handled;
static dn_call *call;

/* A request of this process to itself, which is answered or refused with data. */
static int answer_writing(void (*meanwhile)(void), bool is_refused, outcome *seen)
{
        dn_dict *values = data();
        dn_service *service;
        int r;

        handled = (served){0};
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, seen, &call), 0);
        WAIT_UNTIL_EQ(handled.n_begun, 1);
        while_writing = meanwhile;
        r = is_refused ? dn_request_refuse(handled.held[0], NULL, "late", values)
                       : dn_request_answer(handled.held[0], values);
        CHECK(!while_writing);
        (void)outcome_wait(seen);
        call = dn_call_unref(call);
        dn_dict_unref(values);
        dn_service_close(service);
        return r;
}

TEST_ON_BUS(postsDoNotWaitForTheValuesOfAnAnswer)
{
        outcome seen;

        test_bus_begin();
        CHECK_EQ(answer_writing(post, false, &seen), 0);
        CHECK_EQ(outcome_wait(&seen), 0);
        CHECK_EQ(dn_dict_get_count(seen.reply), 1);
        dn_dict_unref(seen.reply);
}

static void cancel(void)
{
        dn_call_cancel(call);
        WAIT_UNTIL_EQ(handled.n_cancelled, 1);
}

TEST_ON_BUS(aRequestMayBeCancelledWhileItsAnswerIsWritten)
{
        outcome seen;

        test_bus_begin();
        CHECK_EQ(answer_writing(cancel, false, &seen), -ECANCELED);
        CHECK_EQ(outcome_wait(&seen), -ECANCELED);
}

TEST_ON_BUS(aRequestMayBeCancelledWhileTheDetailsOfItsErrorAreWritten)
{
        outcome seen;

        test_bus_begin();
        CHECK_EQ(answer_writing(cancel, true, &seen), -ECANCELED);
        CHECK_EQ(outcome_wait(&seen), -ECANCELED);
}

TEST_ON_BUS(anAnswerIsNotSentToAnotherBusThanTheOneItWasWrittenFor)
{
        outcome seen;

        bus = test_bus_begin();
        CHECK_EQ(answer_writing(replace_bus, false, &seen), -ECANCELED);
        CHECK_EQ(outcome_wait(&seen), -ENOTCONN);
}

TEST_MAIN()
