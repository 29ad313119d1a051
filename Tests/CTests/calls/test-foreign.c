/* Requests of programs without the library, valid ones and others. */
#include "requests.h"

#include <errno.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#define PATH "/org/example/Test"
#define PYTHON "/usr/bin/python3" /* with the modules of the distribution */
#define SEARCH \
        "import dbus, sys\n" \
        "player = dbus.SessionBus().get_object('org.example.Player', '/org/example/Player')\n" \
        "text = dbus.Dictionary({'text': sys.argv[1]}, signature='sv')\n" \
        "for track in player.Search(text, dbus_interface='org.example.Player'):\n" \
        "    print(f\"found {track['number']}: {track['title']}\")\n"

/* Runs a program; returns what it prints, until the next call. Skips if it is not installed. */
static const char *run(const char *const argv[])
{
        static char output[8192];
        int status = test_run_program(argv, output, sizeof output);

        if (status == 127)
                SKIP(FORMAT("%s is not installed", argv[0]));
        CHECK_EQ(status, 0);
        return output;
}

TEST_ON_BUS(busctlCallsAndIntrospects)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        char address[160];

        snprintf(address, sizeof address, "--address=%s", test_bus_address(bus));
        CHECK_STREQ(run((const char *[]){"busctl", address, "call", SERVICE, PATH, SERVICE, "Echo",
                                         "a{sv}", "1", "text", "s", "blue", NULL}),
                    "v s \"blue\"\n");
        CHECK_STREQ(run((const char *[]){"busctl", address, "call", SERVICE, PATH, SERVICE,
                                         "Nothing", NULL}),
                    "v a{sv} 0\n");
        const char *text = run((const char *[]){"busctl", address, "introspect", SERVICE, PATH,
                                                NULL});
        CHECK(strstr(text, ".Echo "));
        CHECK(strstr(text, ".Refuse "));
        CHECK(strstr(run((const char *[]){"busctl", address, "tree", SERVICE, NULL}), PATH));
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(gdbusCallsAndIntrospects)
{
        test_bus_begin();
        test_child *service = spawn_service();

        CHECK_STREQ(run((const char *[]){"gdbus", "call", "--session", "--dest", SERVICE,
                                         "--object-path", PATH, "--method", KIND("Echo"),
                                         "{'text': <'blue'>}", NULL}),
                    "(<'blue'>,)\n");
        CHECK(strstr(run((const char *[]){"gdbus", "introspect", "--session", "--dest", SERVICE,
                                          "--object-path", PATH, NULL}),
                     "Hold(in  a{sv} arguments"));
        CHECK_EQ(test_child_wait(service), 0);
}

/* Finds one track, as the example of a player does. */
static void find_track(dn_request *request, const dn_request_info *info, void *context)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *reply;

        CHECK_STREQ(dn_dict_get_string(info->arguments, "text"), "blue");
        dn_dict_builder_begin_array(builder, DN_REPLY_VALUE);
        dn_dict_builder_begin_dict(builder, NULL);
        dn_dict_builder_set_int64(builder, "number", 3);
        dn_dict_builder_set_string(builder, "title", "Blue Train");
        dn_dict_builder_end(builder);
        dn_dict_builder_end(builder);
        CHECK_EQ(dn_dict_builder_finish(builder, &reply), 0);
        CHECK_EQ(dn_request_answer(request, reply), 0);
        dn_dict_unref(reply);
}

TEST_ON_BUS(programInPythonIsAnswered)
{
        static const char *const kinds[] = {"org.example.Player.Search", NULL};
        dn_service_plan plan = {.name = "org.example.Player", .kinds = kinds};
        dn_service_handler handler = {.invoke = find_track};
        test_bus *bus = test_bus_begin();
        dn_service *service;

        if (test_run_program((const char *[]){PYTHON, "-c", "import dbus", NULL}, NULL, 0) != 0)
                SKIP("python3-dbus is not installed");
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &service), 0);
        CHECK_STREQ(run((const char *[]){PYTHON, "-c", SEARCH, "blue", NULL}),
                    "found 3: Blue Train\n");
        dn_service_close(service);
        test_bus_stop(bus);
}

/* --- By sd-bus ------------------------------------------------------------------------------ */

static sd_bus *connect_foreign(const test_bus *bus)
{
        sd_bus *foreign = NULL;

        CHECK(sd_bus_new(&foreign) >= 0);
        CHECK(sd_bus_set_address(foreign, test_bus_address(bus)) >= 0);
        CHECK(sd_bus_set_bus_client(foreign, true) >= 0);
        CHECK(sd_bus_start(foreign) >= 0);
        return foreign;
}

static sd_bus_message *foreign_call(sd_bus *foreign, const char *path, const char *member)
{
        sd_bus_message *message = NULL;

        CHECK(sd_bus_message_new_method_call(foreign, &message, SERVICE, path, SERVICE, member)
              >= 0);
        return message;
}

/* Sends a call and checks the name of the error. Frees the call. */
static void check_error(sd_bus *foreign, sd_bus_message *message, const char *name,
                        const char *part)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;

        CHECK(sd_bus_call(foreign, message, TEST_DEADLINE_US, &error, NULL) < 0);
        CHECK_STREQ(error.name, name);
        CHECK(strstr(error.message, part));
        sd_bus_error_free(&error);
        sd_bus_message_unref(message);
}

/* More than the values of one message may be together. */
static const char *large_text(void)
{
        static char text[DN_DICT_MAX_BYTES + 1];

        memset(text, 'x', sizeof text - 1);
        return text;
}

static void append_nested(sd_bus_message *message, unsigned n_levels)
{
        if (n_levels == 0) {
                CHECK(sd_bus_message_append(message, "v", "s", "deep") >= 0);
                return;
        }
        CHECK(sd_bus_message_open_container(message, 'v', "av") >= 0);
        CHECK(sd_bus_message_open_container(message, 'a', "v") >= 0);
        append_nested(message, n_levels - 1);
        CHECK(sd_bus_message_close_container(message) >= 0);
        CHECK(sd_bus_message_close_container(message) >= 0);
}

TEST_ON_BUS(invalidRequestsGetErrorsThatSayWhy)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        sd_bus *foreign = connect_foreign(bus);
        sd_bus_message *message;

        check_error(foreign, foreign_call(foreign, "/elsewhere", "Echo"),
                    SD_BUS_ERROR_UNKNOWN_OBJECT, "/elsewhere");
        check_error(foreign, foreign_call(foreign, "/org", "Echo"), SD_BUS_ERROR_UNKNOWN_OBJECT,
                    "/org");
        check_error(foreign, foreign_call(foreign, "/org/exam", "Echo"),
                    SD_BUS_ERROR_UNKNOWN_OBJECT, "/org/exam");
        check_error(foreign, foreign_call(foreign, PATH, "Other"), SD_BUS_ERROR_UNKNOWN_METHOD,
                    KIND("Other"));
        message = foreign_call(foreign, PATH, "Echo");
        CHECK(sd_bus_message_append(message, "is", 1, "two") >= 0);
        check_error(foreign, message, SD_BUS_ERROR_INVALID_ARGS, "a{sv}");
        message = foreign_call(foreign, PATH, "Echo");
        CHECK(sd_bus_message_append(message, "a{sv}", 1, "fd", "h", 0) >= 0);
        check_error(foreign, message, SD_BUS_ERROR_INVALID_ARGS, "plain values");
        message = foreign_call(foreign, PATH, "Echo");
        CHECK(sd_bus_message_open_container(message, 'a', "{sv}") >= 0);
        CHECK(sd_bus_message_open_container(message, 'e', "sv") >= 0);
        CHECK(sd_bus_message_append(message, "s", "deep") >= 0);
        append_nested(message, 28);
        CHECK(sd_bus_message_close_container(message) >= 0);
        CHECK(sd_bus_message_close_container(message) >= 0);
        check_error(foreign, message, SD_BUS_ERROR_LIMITS_EXCEEDED, "too deeply");
        message = foreign_call(foreign, PATH, "Echo");
        CHECK(sd_bus_message_append(message, "a{sv}", 1, "text", "s", large_text()) >= 0);
        check_error(foreign, message, SD_BUS_ERROR_LIMITS_EXCEEDED, "too large");
        check_echo("still well");
        CHECK_EQ(served_number(service, "begun"), 1);
        sd_bus_flush_close_unref(foreign);
        CHECK_EQ(test_child_wait(service), 0);
}

static int count_refusals(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        *(unsigned *)context += sd_bus_message_is_method_error(reply, SD_BUS_ERROR_LIMITS_EXCEEDED);
        return 0;
}

static void await_refusals(sd_bus *foreign, const unsigned *n_refused, unsigned n)
{
        while (*n_refused < n)
                if (sd_bus_process(foreign, NULL) == 0)
                        CHECK(sd_bus_wait(foreign, TEST_DEADLINE_US) > 0);
}

TEST_ON_BUS(foreignCallerHasALimitOfRequestsInProgress)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        sd_bus *foreign = connect_foreign(bus);
        unsigned n_refused = 0;

        for (int i = 0; i < DN_CALLS_MAX + 10; i++) {
                sd_bus_message *message = foreign_call(foreign, PATH, "Hold");

                CHECK(sd_bus_call_async(foreign, NULL, message, count_refusals, &n_refused,
                                        UINT64_MAX) >= 0);
                sd_bus_message_unref(message);
        }
        await_refusals(foreign, &n_refused, 10);
        WAIT_UNTIL_EQ(served_number(service, "begun"), DN_CALLS_MAX);
        check_echo("still well");
        sd_bus_flush_close_unref(foreign);
        WAIT_UNTIL_EQ(served_number(service, "cancelled"), DN_CALLS_MAX);
        CHECK_EQ(test_child_wait(service), 0);
}

#define LARGE_BYTES (14 * 1024 * 1024)

/* The service has room for four of the five. */
TEST_ON_BUS(foreignCallerHasALimitOfBytesInProgress)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        sd_bus *foreign = connect_foreign(bus);
        const char *text = large_text() + DN_DICT_MAX_BYTES - LARGE_BYTES;
        unsigned n_refused = 0;

        for (int i = 0; i < 5; i++) {
                sd_bus_message *message = foreign_call(foreign, PATH, "Hold");

                CHECK(sd_bus_message_append(message, "a{sv}", 1, "text", "s", text) >= 0);
                CHECK(sd_bus_call_async(foreign, NULL, message, count_refusals, &n_refused,
                                        UINT64_MAX) >= 0);
                sd_bus_message_unref(message);
        }
        await_refusals(foreign, &n_refused, 1);
        WAIT_UNTIL_EQ(served_number(service, "begun"), 4);
        sd_bus_flush_close_unref(foreign);
        WAIT_UNTIL_EQ(served_number(service, "cancelled"), 4);
        CHECK_EQ(test_child_wait(service), 0);
}

/* Answers each call with what the library does not send itself. */
static int answer_oddly(sd_bus_message *message, void *context, sd_bus_error *error)
{
        const char *member = sd_bus_message_get_member(message);

        if (!member || !sd_bus_message_is_method_call(message, SERVICE, NULL))
                return 0;
        if (strcmp(member, "Text") == 0)
                return sd_bus_reply_method_return(message, "s", "plain");
        if (strcmp(member, "Two") == 0)
                return sd_bus_reply_method_return(message, "ss", "one", "two");
        if (strcmp(member, "Empty") == 0)
                return sd_bus_reply_method_return(message, "");
        if (strcmp(member, "Large") == 0)
                return sd_bus_reply_method_return(message, "v", "s", large_text());
        return sd_bus_reply_method_return(message, "h", 0);
}

ROLE(serveOddly)
{
        serve_by_filter(answer_oddly);
}

TEST_ON_BUS(repliesOfForeignServicesAreRead)
{
        test_bus_begin();
        test_child *odd = test_spawn_role("serveOddly", NULL);
        outcome seen;

        CHECK_STREQ(test_child_read_line(odd), "ready");
        CHECK_EQ(ask(KIND("Text"), NULL, &seen), 0);
        CHECK_STREQ(dn_dict_get_string(seen.reply, DN_REPLY_VALUE), "plain");
        dn_dict_unref(seen.reply);
        CHECK_EQ(ask(KIND("Empty"), NULL, &seen), 0);
        CHECK_EQ(dn_dict_get_count(seen.reply), 0);
        dn_dict_unref(seen.reply);
        CHECK_EQ(ask(KIND("Two"), NULL, &seen), -EBADMSG);
        CHECK_EQ(ask(KIND("Descriptor"), NULL, &seen), -EBADMSG);
        CHECK_EQ(ask(KIND("Large"), NULL, &seen), -E2BIG);
}

/* --- Start on demand ------------------------------------------------------------------------ */

ROLE(serveAndStay)
{
        static served seen;
        dn_service *service;

        CHECK_EQ(serve(SERVICE, 0, &seen, &service), 0);
        return pause();
}

/* A bus that starts the service by a command. */
static test_bus *begin_bus_that_starts(const char *command)
{
        test_bus *bus = test_bus_prepare(NULL);
        char path[256];

        if (test_bus_is_broker(bus))
                SKIP("dbus-broker starts services by systemd");
        snprintf(path, sizeof path, "%s/services", test_bus_directory(bus));
        CHECK_EQ(mkdir(path, 0700), 0);
        snprintf(path, sizeof path, "%s/services/%s.service", test_bus_directory(bus), SERVICE);
        FILE *file = fopen(path, "we");
        fprintf(file, "[D-BUS Service]\nName=%s\nExec=%s\n", SERVICE, command);
        CHECK_EQ(fclose(file), 0);
        test_bus_start_again(bus);
        test_bus_use(bus);
        return bus;
}

TEST_ON_BUS(busStartsTheServiceOnDemand)
{
        char program[3000] = "", command[3100];
        test_bus *bus;

        CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
        snprintf(command, sizeof command, "'%s' --role serveAndStay", program);
        bus = begin_bus_that_starts(command);
        check_echo("who is there");
        test_bus_stop(bus);
}

TEST_ON_BUS(serviceThatCannotBeStartedIsMissing)
{
        test_bus *bus = begin_bus_that_starts("/bin/false");
        outcome seen;

        CHECK_EQ(ask(KIND("Echo"), NULL, &seen), -ENXIO);
        test_bus_stop(bus);
}

TEST_MAIN()
