/* Who may answer a call on a bus of several users. Forged answers: only dbus-daemon delivers them,
 * if its policy allows it. */
#include "bus/state.h"
#include "delivery/hub.h"
#include "liar.h"
#include "requests.h"
#include "shared-bus.h"
#include "util/cleanup.h"

#define TEXT(number) TEXT_(number)
#define TEXT_(number) #number

/* More messages than a process sends here. */
#define MAX_SERIAL 300

static void forge(sd_bus *bus, const char *receiver, uint64_t serial)
{
        sd_bus_message *call, *answer;

        CHECK(sd_bus_message_new_method_call(bus, &call, receiver, "/", NULL, "Guessed") >= 0);
        CHECK(sd_bus_message_set_sender(call, receiver) >= 0);
        CHECK(sd_bus_message_seal(call, serial, 0) >= 0);
        CHECK(sd_bus_message_new_method_return(call, &answer) >= 0);
        CHECK(sd_bus_message_append(answer, "v", "s", "forged") >= 0);
        CHECK(sd_bus_send(bus, answer, NULL) >= 0);
        sd_bus_message_unref(answer);
        sd_bus_message_unref(call);
}

static void forge_all(sd_bus *bus)
{
        char **names;
        const char *own;

        CHECK(sd_bus_list_names(bus, &names, NULL) >= 0 && sd_bus_get_unique_name(bus, &own) >= 0);
        for (char **name = names; *name; free(*name++))
                for (uint64_t serial = 1; serial <= MAX_SERIAL; serial++)
                        if (**name == ':' && strcmp(*name, own) != 0)
                                forge(bus, *name, serial);
        free(names);
}

/* Argument: its user. For each line that it reads, it sends everybody all answers that they may be
 * waiting for. */
ROLE(forgeAs)
{
        char line[64];
        sd_bus *bus;

        shared_bus_become(args[0]);
        bus = open_plain_bus(shared_bus_of_environment());
        while (fgets(line, sizeof line, stdin)) {
                forge_all(bus);
                CHECK(sd_bus_get_bus_id(bus, &(sd_id128_t){}) >= 0); /* the bus has sent them */
                printf("forged\n");
        }
        sd_bus_flush_close_unref(bus);
        return n_args != 1;
}

static test_child *service, *forger;
static outcome seen;

/* Begins a call, which the service keeps. */
static void prepare(void)
{
        shared_bus_start();
        service = spawn_service();
        forger = test_spawn_role("forgeAs", TEXT(STRANGER), NULL);
        CHECK_EQ(ask_begin(SERVICE, KIND("Hold"), NULL, FOREVER, &seen, NULL), 0);
        WAIT_UNTIL(served_number(service, "begun") == 1);
}

static void finish_all(void)
{
        dn_dict_unref(seen.reply);
        CHECK_EQ(test_child_wait(forger), 0);
        CHECK_EQ(test_child_wait(service), 0);
        shared_bus_stop();
}

static void check_genuine_answer(void)
{
        (void)test_child_ask(service, "answer");
        CHECK_EQ(outcome_wait(&seen), 0);
        CHECK(!dn_dict_get_string(seen.reply, DN_REPLY_VALUE));
}

TEST_ON_BUS(anotherUsersAnswersAreIgnored)
{
        prepare();
        for (int i = 0; i < 3; i++)
                CHECK_STREQ(test_child_ask(forger, ""), "forged");
        check_genuine_answer();
        finish_all();
}

TEST_ON_BUS(serviceMayAnswerAfterItHasGivenUpItsName)
{
        prepare();
        CHECK_EQ(served_number(service, "close"), 0);
        check_genuine_answer();
        finish_all();
}

/* The new owner's answer would look like this one. */
TEST_ON_BUS(answerOfSomebodyElseEndsACallWhoseServiceHasBeenReplaced)
{
        prepare();
        CHECK_EQ(served_number(service, "close"), 0);
        test_child *successor = spawn_service();
        CHECK_STREQ(test_child_ask(forger, ""), "forged");
        if (test_bus_is_broker(NULL))
                check_genuine_answer();
        else
                CHECK_EQ(outcome_wait(&seen), -ECONNRESET);
        CHECK_EQ(test_child_wait(successor), 0);
        finish_all();
}

static const char *own_name_of_library(void)
{
        dn__dbus *dbus = dn__dbus_of(dn__hub_find(dn_center_darwin())->bus);

        DN__AUTO_LOCK(&dbus->lock);
        return dbus->connection.unique_name; /* while it is connected */
}

/* The bus reads them before the query about the owner. */
TEST_ON_BUS(answersThatComeBeforeThatAboutTheOwnerAreIgnored)
{
        shared_bus_start();
        service = spawn_service();
        check_echo("first");
        sd_bus *early = open_plain_bus(shared_address);
        CHECK(sd_bus_get_bus_id(early, &(sd_id128_t){}) >= 0);
        test_bus_pause(shared_bus);
        for (uint64_t serial = 1; serial <= MAX_SERIAL; serial++)
                forge(early, own_name_of_library(), serial);
        CHECK(sd_bus_flush(early) >= 0);
        CHECK_EQ(ask_begin(SERVICE, KIND("Echo"), "genuine", FOREVER, &seen, NULL), 0);
        test_bus_resume(shared_bus);
        CHECK_EQ(outcome_wait(&seen), 0);
        CHECK_STREQ(dn_dict_get_string(seen.reply, DN_REPLY_VALUE), "genuine");
        dn_dict_unref(seen.reply);
        sd_bus_close_unref(early);
        CHECK_EQ(test_child_wait(service), 0);
        shared_bus_stop();
}

static _Atomic bool lacks_memory; /* for the names of connections */

#if !TEST_HAS_SANITIZER
/* Overrides libc's. */
char *strdup(const char *text)
{
        size_t n_bytes = strlen(text) + 1;
        char *copy = lacks_memory && text[0] == ':' ? NULL : malloc(n_bytes);

        return copy ? memcpy(copy, text, n_bytes) : NULL;
}
#endif

TEST_ON_BUS(aCallWhoseOwnerCannotBeKeptEnds)
{
        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has its own strdup()");
        shared_bus_start();
        service = spawn_service();
        check_echo("first");
        lacks_memory = true;
        CHECK_EQ(ask(KIND("Echo"), "second", &seen), -ENOMEM);
        lacks_memory = false;
        check_echo("third");
        CHECK_EQ(test_child_wait(service), 0);
        shared_bus_stop();
}

TEST_MAIN()
