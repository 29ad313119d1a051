/* Errors with details: how they travel, and what programs without the library make of them. */
#include <systemd/sd-bus.h>

#include "requests.h"

#define PATH "/org/example/Test"
#define SAD SERVICE ".Sad"

/* A request to be refused with an error, and with details: a number below two keys. */
static dn_dict *arguments_of_refusal(const char *error, int64_t number)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_string(builder, "text", error);
        dn_dict_builder_begin_dict(builder, DN_REPLY_VALUE);
        dn_dict_builder_set_int64(builder, "number", number);
        dn_dict_builder_end(builder);
        return finish(builder);
}

static void begin_refused(dn_dict *arguments, outcome *seen)
{
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Refuse"),
                             .arguments = arguments, .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = outcome_note, .context = seen};

        *seen = (outcome){0};
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), 0);
        dn_dict_unref(arguments);
}

static int64_t number_of(const dn_dict *details)
{
        return dn_dict_get_int64(dn_dict_get_dict(details, DN_REPLY_VALUE), "number", -1);
}

TEST_ON_BUS(errorsBringTheirDetails)
{
        test_bus_begin();
        test_child *service = spawn_service();
        outcome seen;

        begin_refused(arguments_of_refusal(SAD, 9), &seen);
        CHECK_EQ(outcome_wait(&seen), -EREMOTEIO);
        CHECK_STREQ(seen.error_name, SAD);
        CHECK_STREQ(seen.message, "for a reason");
        CHECK_EQ(number_of(seen.details), 9);
        CHECK(!seen.reply);
        dn_dict_unref(seen.details);
        CHECK_EQ(ask(KIND("Refuse"), SAD, &seen), -EREMOTEIO);
        CHECK_STREQ(seen.message, "for a reason");
        CHECK(!seen.details);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(detailsAreOfAnyType)
{
        test_bus_begin();
        test_child *service = spawn_service();
        dn_dict_builder *builder = dn_dict_builder_new();
        outcome seen;

        dn_dict_builder_set_string(builder, "text", SAD);
        dn_dict_builder_set_string(builder, DN_REPLY_VALUE, "plain");
        begin_refused(finish(builder), &seen);
        CHECK_EQ(outcome_wait(&seen), -EREMOTEIO);
        CHECK_STREQ(dn_dict_get_string(seen.details, DN_REPLY_VALUE), "plain");
        dn_dict_unref(seen.details);
        CHECK_EQ(test_child_wait(service), 0);
}

/* --- Programs without the library ----------------------------------------------------------- */

static int check_refusal(sd_bus_message *answer, void *context, sd_bus_error *ignored)
{
        const sd_bus_error *error = sd_bus_message_get_error(answer);
        const char *text, *key;
        int64_t number = 0;

        CHECK_STREQ(error->name, SAD);
        CHECK_STREQ(error->message, "for a reason");
        CHECK_STREQ(sd_bus_message_get_signature(answer, true), "sv");
        CHECK(sd_bus_message_rewind(answer, true) >= 0);
        CHECK(sd_bus_message_read(answer, "s", &text) > 0);
        CHECK(sd_bus_message_read(answer, "v", "a{sv}", 1, &key, "x", &number) > 0);
        CHECK_EQ(number, 9);
        *(bool *)context = true;
        return 1;
}

TEST_ON_BUS(foreignCallersReadTheTextAndMayReadTheDetails)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        sd_bus_message *call;
        sd_bus *foreign = NULL;
        bool is_checked = false;

        CHECK(sd_bus_new(&foreign) >= 0);
        CHECK(sd_bus_set_address(foreign, test_bus_address(bus)) >= 0);
        CHECK(sd_bus_set_bus_client(foreign, true) >= 0);
        CHECK(sd_bus_start(foreign) >= 0);
        CHECK(sd_bus_message_new_method_call(foreign, &call, SERVICE, PATH, SERVICE, "Refuse")
              >= 0);
        CHECK(sd_bus_message_append(call, "a{sv}", 2, "text", "s", SAD, DN_REPLY_VALUE, "a{sv}", 1,
                                    "number", "x", INT64_C(9)) >= 0);
        CHECK(sd_bus_call_async(foreign, NULL, call, check_refusal, &is_checked, UINT64_MAX) >= 0);
        sd_bus_message_unref(call);
        while (!is_checked)
                if (sd_bus_process(foreign, NULL) == 0)
                        CHECK(sd_bus_wait(foreign, TEST_DEADLINE_US) > 0);
        sd_bus_flush_close_unref(foreign);
        CHECK_EQ(test_child_wait(service), 0);
}

/* Refuses each call in a way that the library does not use itself. */
static int refuse_oddly(sd_bus_message *call, void *context, sd_bus_error *error)
{
        const char *member = sd_bus_message_get_member(call);
        sd_bus_message *reply = NULL;
        const sd_bus_error sad = {.name = SAD, .message = "a text"};
        const sd_bus_error mute = {.name = SAD};
        bool is_mute;

        if (!member || !sd_bus_message_is_method_call(call, SERVICE, NULL))
                return 0;
        is_mute = strcmp(member, "Mute") == 0 || strcmp(member, "Number") == 0;
        CHECK(sd_bus_message_new_method_error(call, &reply, is_mute ? &mute : &sad) >= 0);
        if (strcmp(member, "Number") == 0)
                CHECK(sd_bus_message_append(reply, "x", INT64_C(9)) >= 0);
        else if (strcmp(member, "Dictionary") == 0)
                CHECK(sd_bus_message_append(reply, "a{sv}", 1, "number", "x", INT64_C(9)) >= 0);
        else if (strcmp(member, "Descriptor") == 0)
                CHECK(sd_bus_message_append(reply, "h", 0) >= 0);
        CHECK(sd_bus_send(NULL, reply, NULL) >= 0);
        sd_bus_message_unref(reply);
        return 1;
}

ROLE(refuseOddly)
{
        serve_by_filter(refuse_oddly);
}

TEST_ON_BUS(errorsOfForeignServicesAreRead)
{
        static const struct {
                const char *member, *message;
                int64_t number; /* in the details; -1: there are none */
        } expected[] = {
                {"Dictionary", "a text", 9}, {"Text", "a text", -1}, {"Descriptor", "a text", -1},
                {"Number", "", -1},          {"Mute", "", -1},
        };
        test_bus_begin();
        test_child *odd = test_spawn_role("refuseOddly", NULL);

        CHECK_STREQ(test_child_read_line(odd), "ready");
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
                char kind[64];
                outcome seen;

                snprintf(kind, sizeof kind, "%s.%s", SERVICE, expected[i].member);
                CHECK_EQ(ask(kind, NULL, &seen), -EREMOTEIO);
                CHECK_STREQ(seen.error_name, SAD);
                CHECK_STREQ(seen.message, expected[i].message);
                CHECK_EQ(number_of(seen.details), expected[i].number);
                dn_dict_unref(seen.details);
        }
}

TEST_MAIN()
