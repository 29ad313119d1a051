/* A program that stands in for the system posts in the table of its own user alone. */
#include <errno.h>
#include <unistd.h>

#include "center/own-table.h"
#include "delivery/hub.h"
#include "notify-tally.h"

#define NAME "com.apple.system.test"

static const uint64_t state = 7;

TEST_NO_BUS(aReservedNameIsPostedInTheTableOfItsUser)
{
        static tally seen;
        char path[PATH_MAX];

        test_bus_use_none();
        CHECK_EQ(dn__table_copy_path(path), -ENOENT);
        CHECK_EQ(dn__table_publish(NAME, NULL, true), -ENOENT);
        (void)add_callback(NAME, &seen);
        int token = add_check(NAME);
        CHECK(is_changed(token));
        CHECK_EQ(dn__table_publish(NAME, &state, false), 0);
        CHECK_EQ(get_state(token), state);
        CHECK(!is_changed(token));
        CHECK_EQ(dn__table_publish(NAME, NULL, true), 0);
        CHECK(is_changed(token));
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_EQ(dn__table_copy_path(path), 0);
        CHECK_EQ(access(path, F_OK), 0);
        CHECK_EQ(dn__table_publish("com.apple.system.unheld", &state, false), -ENOENT);
        CHECK_EQ(dn__table_publish("self.x", NULL, true), -EINVAL);
}

TEST_NO_BUS(aStateIsAlsoSetInTheTableThatReplacesTheOwn)
{
        test_bus_use_none();
        int token = add_check(NAME);

        dn__region_set_stale(atomic_load(&dn__hub_find(dn_center_darwin())->member.region));
        CHECK_EQ(dn__table_publish(NAME, &state, false), 0);
        CHECK_EQ(get_state(token), state);
}

TEST_NO_BUS(theCountOfANameSaysWhetherItWasPosted)
{
        dn__table_count before, after;

        test_bus_use_none();
        CHECK_EQ(dn__table_read_count(NAME, &before), -ENOENT);
        (void)add_check(NAME);
        CHECK_EQ(dn__table_read_count(NAME, &before), 1);
        CHECK_EQ(dn__table_publish(NAME, NULL, true), 0);
        CHECK_EQ(dn__table_read_count(NAME, &after), 1);
        CHECK_EQ(after.generation, before.generation + 1);
        CHECK(after.region == before.region && after.slot == before.slot &&
              after.named == before.named);
        CHECK_EQ(dn__table_read_count("unheld", &after), 0);
        CHECK_EQ(dn__table_read_count("self.x", &after), -EINVAL);
}

/* The process has mapped the table as another user. */
TEST_NO_BUS(theTableOfAnotherUserIsLeftAlone)
{
        SKIP_IF(geteuid() != 0, "only root becomes another user");
        test_bus_use_none();
        int token = add_check(NAME);

        CHECK_EQ(seteuid(65534), 0);
        CHECK_EQ(dn__table_publish(NAME, &state, true), -EACCES);
        CHECK_EQ(seteuid(0), 0);
        CHECK_EQ(get_state(token), 0);
}

TEST_MAIN()
