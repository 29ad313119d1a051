/* What the bus, or somebody else, answers to the library's queries about names and callers. */
#include "asked.h"
#include "liar.h"
#include "requests.h"
#include "tally.h"

/* The next query with this method is changed, once. */
static const char *_Atomic changed_method;
static const char *other_destination, *other_argument; /* NULL: as it was */

static void on_call(const char *member, const char **destination, const char **argument)
{
        if (!changed_method || strcmp(member, changed_method) != 0)
                return;
        if (other_destination)
                *destination = other_destination;
        if (other_argument)
                *argument = other_argument;
        changed_method = NULL;
}

static test_child *spawn_liar(void)
{
        static char name[64];
        test_child *child = test_spawn_role("lie", test_bus_address(test_bus_begin()), "1", NULL);

        snprintf(name, sizeof name, "%s", test_child_read_line(child));
        other_destination = name;
        return child;
}

/* It says that the process has the name. */
TEST_ON_BUS(whatAnotherProcessSaysAboutTheNameOfAServiceIsNotBelieved)
{
        served handled = {0};
        dn_service *service;
        test_child *liar = spawn_liar();

        changed_method = "RequestName";
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        CHECK(!changed_method);
        check_echo("asked again");
        dn_service_close(service);
        test_child_kill(liar);
}

TEST_ON_BUS(aNameThatTheBusRejectsIsAnError)
{
        served handled = {0};
        dn_service *service = NULL;

        test_bus_begin();
        changed_method = "RequestName";
        other_argument = ":1.1";
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), -EINVAL);
        CHECK(!service && handled.n_destroyed == 1);
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        dn_service_close(service);
}

static _Atomic unsigned n_absent, n_present;

static void note_owner(const dn_owner *owner, void *context)
{
        CHECK(owner->is_on_bus);
        if (owner->connection)
                n_present++;
        else
                n_absent++;
}

TEST_ON_BUS(whatAnotherProcessSaysAboutAnOwnerIsNotBelieved)
{
        const dn_owner_handler handler = {.invoke = note_owner};
        dn_observer *observer = NULL;
        test_child *liar = spawn_liar();

        WAIT_UNTIL_EQ(dn_center_is_on_bus(dn_center_darwin()), 1);
        changed_method = "GetNameOwner";
        CHECK_EQ(dn_center_observe_owner(dn_center_darwin(), SERVICE, &handler, NULL, &observer),
                 0);
        WAIT_UNTIL_EQ(n_absent, 1);
        CHECK(!changed_method);
        test_child *service = spawn_service();
        WAIT_UNTIL_EQ(n_present, 1);
        tally_drop(observer);
        CHECK_EQ(test_child_wait(service), 0);
        test_child_kill(liar);
}

/* The bus does not know the connection that it is asked about. */
TEST_ON_BUS(aCallerThatHasLeftBeforeTheBusIsAskedIsNotServed)
{
        served handled = {0};
        dn_service *service;
        outcome seen;

        test_bus_begin();
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        changed_method = "GetConnectionUnixUser";
        other_argument = ":9.9";
        CHECK(ask(KIND("Echo"), "gone", &seen) < 0);
        CHECK_EQ(handled.n_begun, 0);
        check_echo("still there");
        dn_service_close(service);
}

TEST_MAIN()
