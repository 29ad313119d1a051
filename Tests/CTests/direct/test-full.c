/* More processes or names than a table has room for: the bus takes over, until there is room. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "center/table.h"
#include "member.h"
#include "shm.h"

#if DN_HAS_BUS
#include "bus/rules.h"
#endif

#define N_ROUNDS 10

/* Each post of A and B, by the other one, is heard once. */
static void check_both_ways(test_child *a, test_child *b)
{
        uint64_t of_a = posts_of(a), of_b = posts_of(b);

        for (unsigned i = 1; i <= N_ROUNDS; i++) {
                post_by(a, "B");
                post_by(b, "A");
                WAIT_UNTIL_EQ(posts_of(b), of_b + i);
                WAIT_UNTIL_EQ(posts_of(a), of_a + i);
        }
}

/* It has joined by itself: it can have missed posts and says so once, but no more than that. */
static void check_joins(test_child *member, int n_posts)
{
        WAIT_UNTIL_EQ(ask(member, "tables"), 1);
        WAIT_UNTIL_EQ(ask(member, "uncounted"), 0);
        WAIT_UNTIL_EQ(ask(member, "posts"), n_posts + 1);
}

static int taken_fd;

/* Claims all entries that are free. */
static void take_entries(const dn__region *region)
{
        taken_fd = open(region->file.path, O_RDWR | O_CLOEXEC);
        CHECK(taken_fd >= 0);
        for (unsigned i = 0; i < DN__SHM_N_PROCESSES; i++)
                (void)dn__claim_take(taken_fd, i);
}

/* Without a bus, its registration reports that nothing reaches it. */
TEST(aProcessBeyondTheTableUsesTheBusBothWaysUntilAnEntryIsFree)
{
        test_bus *bus = test_bus_begin();
        bool is_none = test_bus_is_none(bus);
        test_child *inside = spawn_member("A");
        dn__region *region = enter_table(test_bus_address(bus));

        take_entries(region);
        test_child *outside = spawn_member_with("B", is_none ? DN_NOT_CONNECTED : 0);
        CHECK_EQ(ask(outside, "tables"), 0);
        CHECK_EQ(ask(outside, "uncounted"), 1);
        if (is_none) {
                post_by(outside, "A");
                WAIT_UNTIL_EQ(posts_of(inside), 1);
        } else {
                check_both_ways(inside, outside);
        }
        CHECK_EQ(ask(outside, "tables"), 0);
        close(taken_fd); /* all entries are free */
        check_joins(outside, is_none ? 0 : N_ROUNDS);
        check_both_ways(inside, outside);
        end_member(outside);
        end_member(inside);
        dn__region_close(region);
        test_bus_stop(bus);
}

#if DN_HAS_BUS
/* Its rule stays for a second, while the table is replaced by one that is full. */
TEST_ON_BUS(aNameThatIsHeldAgainBeyondTheTableIsHeardFromTheBus)
{
        test_bus_begin();
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &(tally){0});
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        AUTO_REGION *full = enter_table("another");
        dn__name name = slot_name("N");

        take_entries(full);
        tally_drop(observer);
        CHECK_EQ(rename(full->file.path, atomic_load(&hub->member.region)->file.path), 0);
        dn__table_look(hub, false);
        (void)tally_observe(dn_center_darwin(), "N", &(tally){0});
        CHECK_EQ(statistic(DN_STATISTIC_TABLES), 0);
        DN__HUB_AUTO_LOCK(hub);
        CHECK(!dn__topic_find(hub, &name)->subscription->is_counted);
}
#endif

/* --- What it costs --------------------------------------------------------------------------- */

/* It tries again, more and more seldom, and without a bus looks every 5 seconds: in two seconds it
 * wakes up six times. */
static void check_hardly_wakes_up(int result)
{
        static tally seen;

        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer has a thread of its own that wakes up");
        uint64_t began_us = test_now_us();
        int r = dn_center_observe(dn_center_darwin(), "N", TALLY_HANDLER(&seen), NULL, NULL);
        CHECK_EQ(result == 0 ? settle_name(dn_center_darwin(), "N", r, began_us) : r, result);
        uint64_t n_before = test_n_sleeps_of_others(), before_us = test_cpu_us();
        test_let_pass_ms(2000);
        CHECK(test_n_sleeps_of_others() - n_before < 20);
        CHECK(test_cpu_us() - before_us < 50000 * (uint64_t)test_slowness());
}

TEST(aProcessBeyondTheTableHardlyEverWakesUp)
{
        test_bus *bus = test_bus_begin();
        AUTO_REGION *region = enter_table(test_bus_address(bus));

        take_entries(region);
        check_hardly_wakes_up(test_bus_is_none(bus) ? DN_NOT_CONNECTED : 0);
        CHECK_EQ(statistic(DN_STATISTIC_TABLES), 0);
}

TEST_NO_BUS(aProcessThatCanHaveNoTableHardlyEverWakesUp)
{
        test_bus_use_nothing();
        test_directory_cover("/dev/shm", "ro");
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        check_hardly_wakes_up(DN_NOT_CONNECTED);
}

/* --- Names ----------------------------------------------------------------------------------- */

TEST_ON_BUS(namesBeyondTheTableUseTheBusBothWaysUntilASlotIsFree)
{
        test_bus *bus = test_bus_begin();
        dn__region *region = enter_table(test_bus_address(bus));
        dn__shm_slot *fillers[] = {fill_set_of(region, "A"), fill_set_of(region, "B")};
        test_child *a = spawn_member("A"), *b = spawn_member("B");

        CHECK_EQ(ask(a, "tables"), 1);
        CHECK_EQ(ask(a, "uncounted"), 1);
        check_both_ways(a, b);
        for (int i = 0; i < 2; i++)
                dn__slot_release(region, fillers[i]);
        check_joins(a, N_ROUNDS);
        check_joins(b, N_ROUNDS);
        check_both_ways(a, b);
        end_member(a);
        end_member(b);
        dn__region_close(region);
        test_bus_stop(bus);
}

static atomic_bool is_over;

static void *keep_looking(void *hub)
{
        while (!is_over)
                dn__table_look(hub, false);
        return NULL;
}

/* If a name finds no slot during a look, the outcome of the look says nothing about that name. */
TEST_ON_BUS(aNameWithoutASlotGetsOneEvenIfAnotherThreadLooksMeanwhile)
{
        static tally seen;
        char filler[64], name[64];
        dn_center *center = dn_center_darwin();
        test_bus *bus = test_bus_begin();
        dn__region *region = enter_table(test_bus_address(bus));
        pthread_t looker;

        (void)fill_set_of(region, "A");
        tally_observe(center, "B", &seen);
        CHECK_EQ(pthread_create(&looker, NULL, keep_looking, dn__hub_find(center)), 0);
        for (int i = 0; i < DN__SHM_SLOTS_PER_SET; i++) {
                name_in_set_of("A", i, filler);
                name_in_set_of("A", DN__SHM_SLOTS_PER_SET + i, name);
                tally_observe(center, name, &seen);
                CHECK_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 1);
                dn__slot_release(region, find(region, filler));
                WAIT_UNTIL_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 0);
        }
        is_over = true;
        CHECK_EQ(pthread_join(looker, NULL), 0);
        dn__region_close(region);
        test_bus_stop(bus);
}

TEST_MAIN()
