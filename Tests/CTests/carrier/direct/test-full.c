/* More processes or names than a table has room for: the bus takes over, until there is room. */
#include <errno.h>

#include "roles.h"
#include "shm.h"
#include "shm/claim.h"

#define N_ROUNDS 10

static test_bus *begin_without_bus(void)
{
        test_bus *none = test_bus_start("none", NULL);

        test_bus_use(none);
        return none;
}

static dn__region *open_region_of(const test_bus *bus)
{
        dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(test_bus_address(bus), &region), 0);
        return region;
}

static int statistic(int number)
{
        uint64_t value;

        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), number, &value), 0);
        return (int)value;
}

/* Arguments: name. Observes it and says with what result, then answers: "post NAME" posts, "posts"
 * says how many were heard, "tables" and "uncounted" are statistics. */
ROLE(member)
{
        static tally seen;
        dn_handler handler = tally_handler(&seen);
        char line[64];

        printf("%d\n", dn_center_observe(dn_center_darwin(), args[0], handler, NULL, NULL));
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "post ", 5) == 0)
                        printf("%d\n", dn_center_post(dn_center_darwin(), line + 5, NULL, NULL, 0));
                else if (strcmp(line, "tables") == 0)
                        printf("%d\n", statistic(DN_STATISTIC_TABLES));
                else if (strcmp(line, "uncounted") == 0)
                        printf("%d\n", statistic(DN_STATISTIC_NAMES_UNCOUNTED));
                else
                        printf("%llu\n", (unsigned long long)seen.n_posts);
        }
        return 0;
}

static test_child *spawn_member(const char *name, int result)
{
        test_child *child = test_spawn_role("member", name, NULL);

        CHECK_EQ(atoi(test_child_read_line(child)), result);
        return child;
}

static int ask(test_child *member, const char *question)
{
        return atoi(test_child_ask(member, question));
}

/* Each post of A and B, by the other one, is heard once. */
static void check_both_ways(test_child *a, test_child *b)
{
        int of_a = ask(a, "posts"), of_b = ask(b, "posts");

        for (int i = 1; i <= N_ROUNDS; i++) {
                CHECK_EQ(ask(a, "post B"), 0);
                CHECK_EQ(ask(b, "post A"), 0);
                WAIT_UNTIL_EQ(ask(b, "posts"), of_b + i);
                WAIT_UNTIL_EQ(ask(a, "posts"), of_a + i);
        }
}

/* It has joined by itself: it can have missed posts and says so once, but no more than that. */
static void check_joins(test_child *member, int n_posts)
{
        WAIT_UNTIL_EQ(ask(member, "tables"), 1);
        WAIT_UNTIL_EQ(ask(member, "uncounted"), 0);
        WAIT_UNTIL_EQ(ask(member, "posts"), n_posts + 1);
}

/* Claims all entries that are free. */
static void take_entries(const dn__region *region)
{
        for (unsigned i = 0; i < DN__SHM_N_PROCESSES; i++)
                (void)dn__claim_take(dn__region_get_fd(region), i, 1);
}

static void free_an_entry(const dn__region *region)
{
        dn__claim_release(dn__region_get_fd(region), DN__SHM_N_PROCESSES - 1, 1);
}

TEST_ON_BUS(aProcessBeyondTheTableUsesTheBusBothWaysUntilAnEntryIsFree)
{
        test_bus *bus = test_bus_begin();
        test_child *inside = spawn_member("A", 0);
        dn__region *region = open_region_of(bus);

        take_entries(region);
        test_child *outside = spawn_member("B", 0);
        CHECK_EQ(ask(outside, "tables"), 0);
        CHECK_EQ(ask(outside, "uncounted"), 1);
        check_both_ways(inside, outside);
        CHECK_EQ(ask(outside, "tables"), 0);
        free_an_entry(region);
        check_joins(outside, N_ROUNDS);
        check_both_ways(inside, outside);
        CHECK_EQ(test_child_wait(outside), 0);
        CHECK_EQ(test_child_wait(inside), 0);
        dn__region_close(region);
        test_bus_stop(bus);
}

TEST_NO_BUS(aProcessBeyondTheTableIsToldThatNothingReachesIt)
{
        test_bus *none = begin_without_bus();
        test_child *inside = spawn_member("A", 0);
        dn__region *region = open_region_of(none);

        take_entries(region);
        test_child *outside = spawn_member("B", -ENOTCONN);
        CHECK_EQ(ask(outside, "tables"), 0);
        CHECK_EQ(ask(outside, "uncounted"), 1);
        CHECK_EQ(ask(outside, "post A"), -ENOTCONN);
        free_an_entry(region);
        check_joins(outside, 0);
        check_both_ways(inside, outside);
        CHECK_EQ(test_child_wait(outside), 0);
        CHECK_EQ(test_child_wait(inside), 0);
        dn__region_close(region);
        test_bus_stop(none);
}

TEST_ON_BUS(namesBeyondTheTableUseTheBusBothWaysUntilASlotIsFree)
{
        test_bus *bus = test_bus_begin();
        dn__region *region = open_region_of(bus);
        dn__shm_slot *fillers[] = {fill_set_of(region, "A"), fill_set_of(region, "B")};
        test_child *a = spawn_member("A", 0), *b = spawn_member("B", 0);

        CHECK_EQ(ask(a, "tables"), 1);
        CHECK_EQ(ask(a, "uncounted"), 1);
        check_both_ways(a, b);
        for (int i = 0; i < 2; i++)
                dn__slot_release(region, fillers[i]);
        check_joins(a, N_ROUNDS);
        check_joins(b, N_ROUNDS);
        check_both_ways(a, b);
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
        dn__region_close(region);
        test_bus_stop(bus);
}

TEST_NO_BUS(aNameBeyondTheTableIsHeardOnceThereIsASlot)
{
        test_bus *none = begin_without_bus();
        dn__region *region = open_region_of(none);
        dn__shm_slot *filler = fill_set_of(region, "B");
        test_child *a = spawn_member("A", 0), *b = spawn_member("B", -ENOTCONN);

        CHECK_EQ(ask(b, "tables"), 1);
        CHECK_EQ(ask(b, "uncounted"), 1);
        dn__slot_release(region, filler);
        check_joins(b, 0);
        check_both_ways(a, b);
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
        dn__region_close(region);
        test_bus_stop(none);
}

TEST_MAIN()
