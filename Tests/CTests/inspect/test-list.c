/* The names in use and their holders. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "listing.h"
#include "roles.h"
#include "table-file.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static bool has_holder(const struct listed *listed, pid_t pid)
{
        for (size_t i = 0; i < listed->n_holders; i++)
                if (listed->pids[i] == pid)
                        return true;
        return false;
}

TEST(emptyListOpensNothing)
{
        test_bus_begin();
        test_child *child;
        unsigned n_fds = test_n_fds();

        CHECK_EQ(list_now(NULL)->n_names, 0);
        CHECK_EQ(test_n_fds(), n_fds);
        child = spawn_observer("held", NULL);
        CHECK_EQ(list_now(NULL)->n_names, 1);
        CHECK(is_there());
        test_child_kill(child);
        CHECK_EQ(list_now(NULL)->n_names, 0);
}

TEST(nameIsListedWithItsHolderAndPostCount)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};
        listing *list;
        uint64_t before;
        dn_observer *observer = tally_observe(dn_center_darwin(), "com.example.held", &seen);

        post_ok(dn_center_darwin(), "com.example.not-held");
        list = list_now(NULL);
        CHECK_EQ(list->n_names, 1);
        CHECK_STREQ(list->names[0].name, "com.example.held");
        CHECK_EQ(list->names[0].n_holders, 1);
        CHECK_EQ(list->names[0].pids[0], getpid());
        CHECK_EQ(list->names[0].state, 0);
        before = list->names[0].generation;
        post_elsewhere("com.example.held", 2, "_exit");
        CHECK_EQ(list_now(test_bus_address(bus))->names[0].generation, before + 2);
        tally_drop(observer);
        WAIT_UNTIL_EQ(list_now(NULL)->n_names, 0); /* the name lingers briefly */
}

TEST(deadProcessesAreNotHolders)
{
        test_bus_begin();
        test_child *children[4];
        listing *list;

        for (int i = 0; i < 4; i++)
                children[i] = spawn_observer("held", NULL);
        CHECK_EQ(list_now(NULL)->names[0].n_holders, 4);
        /* The lister takes one of the two entries and clears it; the other's remains. */
        test_child_kill(children[0]);
        test_child_kill(children[2]);
        list = list_now(NULL);
        CHECK_EQ(list->n_names, 1);
        CHECK_EQ(list->names[0].n_holders, 2);
        CHECK(has_holder(&list->names[0], test_child_pid(children[1])));
        CHECK(has_holder(&list->names[0], test_child_pid(children[3])));
        test_child_kill(children[1]);
        test_child_kill(children[3]);
        CHECK_EQ(list_now(NULL)->n_names, 0);
}

TEST(twoCentersOfAProcessCountAsOneHolder)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};
        dn_center *second = open_center(test_bus_address(bus));

        tally_observe(dn_center_darwin(), "held", &seen);
        tally_observe(second, "held", &seen);
        CHECK_EQ(list_now(NULL)->names[0].n_holders, 1);
}

TEST_NO_BUS(namesComeWithTheirStates)
{
        static const char *const names[] = {"B", "a", "a ", "a.b", "ab", "z", "\xc3\xa9",
                                            "\xf0\x9f\x98\x80"};
        const size_t n_names = sizeof names / sizeof *names;
        AUTO_REGION *region = open_region(NOWHERE);
        char longest[DN_NAME_MAX_BYTES + 1] = "";
        listing *list;

        memset(longest, 'b', DN_NAME_MAX_BYTES);
        hold(region, longest);
        for (size_t i = n_names; i > 0; i--)
                hold(region, names[i - 1])->state = UINT64_MAX - i;
        list = list_now(NOWHERE);
        CHECK_EQ(list->n_names, n_names + 1);
        CHECK_STREQ(list->names[5].name, longest);
        for (size_t i = 0; i < n_names; i++)
                CHECK_STREQ(list->names[i < 5 ? i : i + 1].name, names[i]);
        CHECK(list->names[0].state == UINT64_MAX - 1 && list->names[5].state == 0);
}

TEST_NO_BUS(callbackStopsTheList)
{
        AUTO_REGION *region = open_region(NOWHERE);
        listing list = {.n_most = 1};

        hold(region, "a");
        hold(region, "b");
        CHECK_EQ(dn_list_names(NOWHERE, on_name, &list), 3);
        CHECK_EQ(list.n_names, 1);
}

static int refuse(const dn_name_record *record, void *context)
{
        ++*(int *)context;
        return -ENOENT;
}

static int use_the_library(const dn_name_record *record, void *context)
{
        static tally seen = {0};

        CHECK_STREQ(record->name, "held");
        tally_drop(tally_observe(dn_center_darwin(), "held", &seen));
        CHECK(list_now(NULL)->n_names >= 1);
        CHECK_STREQ(record->name, "held");
        ++*(int *)context;
        return 0;
}

TEST(theCallbackMayUseTheLibrary)
{
        test_bus_begin();
        static tally seen = {0};
        int n_calls = 0;

        tally_observe(dn_center_darwin(), "held", &seen);
        CHECK_EQ(dn_list_names(NULL, use_the_library, &n_calls), 0);
        CHECK_EQ(n_calls, 1);
        CHECK_EQ(dn_list_names(NULL, refuse, &n_calls), -EINVAL);
        CHECK_EQ(n_calls, 2);
}

TEST_NO_BUS(wrongArgumentsAreRefused)
{
        listing list = {0};

        CHECK_EQ(dn_list_names(NOWHERE, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_list_names("", on_name, &list), -EINVAL);
}

TEST_NO_BUS(aLackOfDescriptorsIsNamed)
{
        struct rlimit before, none;
        char *path = NULL;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        none = before;
        none.rlim_cur = 0;
        AUTO_REGION *region = open_region(NOWHERE);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        int listed = dn_list_names(NOWHERE, refuse, NULL), found = dn_find_table(NOWHERE, &path);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        CHECK_EQ(listed, -EMFILE);
        CHECK_EQ(found, -EMFILE);
        CHECK(!path && region);
}

TEST_NO_BUS(aTableThatIsMissingOrInvalidHasNoNames)
{
        listing list = {0};
        char path[512];

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        CHECK_EQ(dn_list_names(NOWHERE, on_name, &list), 0);
        dn__region_close(open_region(NOWHERE));
        CHECK(table_path(path) != 0);
        CHECK_EQ(truncate(path, 100), 0);
        CHECK_EQ(dn_list_names(NOWHERE, on_name, &list), 0);
}

TEST_MAIN()
