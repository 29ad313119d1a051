/* A process of the same user wakes others endlessly, without posting anything. */
#include "carrier/direct/storm.h"

#include <poll.h>

#include "carrier/direct/direct.h"
#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "util/wake.h"
#include "watch.h"

#define N_ENTRIES 4 /* as many as there are processes, or more */
#define N_POSTS 40
#define N_NAMES 200

/* --- The budget ------------------------------------------------------------------------------ */

TEST_NO_BUS(wakeUpsInVainAreLimitedInTime)
{
        dn__storm storm = {0};
        uint64_t begin_us = test_now_us();

        for (int i = 0; i < 11 * DN__STORM_BUDGET; i++)
                dn__storm_note(&storm, 0, 1);
        CHECK(test_now_us() >= begin_us + 10 * DN__STORM_SPAN_US);
}

TEST_NO_BUS(aBurstOfWakeUpsAfterRestDoesNotPause)
{
        dn__storm storm = {.since_us = 1000000, .n_spent = 100 * DN__STORM_BUDGET};
        uint64_t now_us = 1000000 + 100 * DN__STORM_SPAN_US;

        CHECK(dn__storm_renew(&storm, now_us) <= now_us);
        CHECK_EQ(storm.since_us, now_us);
        CHECK_EQ(storm.n_spent, 0);
}

TEST_NO_BUS(noPauseIsLongerThanItsLimit)
{
        dn__storm storm = {.since_us = 1000000, .n_spent = UINT32_MAX};

        CHECK_EQ(dn__storm_renew(&storm, 1000001), 1000001 + DN__STORM_PAUSE_MAX_US);
}

TEST_NO_BUS(findsPayForSomeWakeUpsInVain)
{
        dn__storm storm = {0};

        for (int i = 0; i < 1000000; i++) {
                dn__storm_note(&storm, 0, DN__STORM_FIND_PAYS);
                dn__storm_note(&storm, 1, 0);
        }
        CHECK_EQ(storm.n_spent, 0);
        CHECK_EQ(storm.since_us, 0); /* no budget was spent */
}

/* --- Storms ---------------------------------------------------------------------------------- */

static void ring(dn__shm_table *table, unsigned entry)
{
        dn__wake_ring(&table->processes[entry].wake, DN__WAKE_SHARED);
}

static void damage_word(dn__shm_table *table, unsigned entry)
{
        atomic_store(&table->processes[entry].wake, UINT32_MAX);
        dn__wake_rouse(&table->processes[entry].wake, DN__WAKE_SHARED);
}

static void mark_all(dn__shm_table *table, unsigned entry)
{
        for (size_t i = 0; i < DN__SHM_MARK_WORDS; i++)
                atomic_store(&table->marks[entry][i], UINT64_MAX);
        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++)
                atomic_store(&table->processes[entry].marked[i], UINT64_MAX);
        ring(table, entry);
}

static void pretend_to_leave(dn__shm_table *table, unsigned entry)
{
        atomic_store(&table->moved, atomic_load(&table->moved) ? 0 : 4711);
        atomic_store(&table->processes[entry].marked[0], 1);
        ring(table, entry);
}

static void (*const storms[])(dn__shm_table *table, unsigned entry) = {
        ring, damage_word, mark_all, pretend_to_leave,
};

/* Arguments: the key of the table, the index of a storm. Ends when it reads a line. */
ROLE(storm)
{
        void (*blow)(dn__shm_table *table, unsigned entry) = storms[atoi(args[1])];
        struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
        static dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(args[0], &region), 0);
        printf("blowing\n");
        while (poll(&end, 1, 0) == 0)
                for (unsigned i = 0; i < 100 * N_ENTRIES; i++)
                        blow(region->table, i % N_ENTRIES);
        atomic_store(&region->table->moved, 0);
        return 0;
}

typedef struct sample {
        uint64_t now_us;
        uint64_t n_switches;
} sample;

static sample take_sample(void)
{
        return (sample){test_now_us(), test_n_switches_of_others()};
}

static uint64_t count_spans(uint64_t begin_us)
{
        return (test_now_us() - begin_us) / DN__STORM_SPAN_US + 2;
}

/* Each wake-up in vain is a switch, each pause another, and a thread that is interrupted switches,
 * too. Without a budget there are dozens per millisecond. */
static void check_switches(sample before, uint64_t n_posts)
{
        uint64_t n_switches = test_n_switches_of_others() - before.n_switches;

        CHECK(n_switches < 2 * (DN__STORM_BUDGET + 1) * count_spans(before.now_us) + 4 * n_posts);
}

/* Posts are heard all the same. */
static void hear_posts(const char *storm)
{
        dn_executor executor = dn_executor_inline();
        static tally seen = {0};

        test_bus_use_none();
        tally_observe_on(dn_center_darwin(), "N", &seen, &executor);
        test_peer *peer = test_peer_open("none");
        test_child *child = test_spawn_role("storm", "none", storm, NULL);
        CHECK_STREQ(test_child_read_line(child), "blowing");
        sample before = take_sample();
        for (uint64_t i = 1; i <= N_POSTS; i++) {
                test_peer_post(peer, "N");
                WAIT_UNTIL_EQ(seen.n_posts, i);
                test_let_pass_ms(5);
        }
        check_switches(before, N_POSTS);
        CHECK_EQ(seen.n_calls, N_POSTS);
        test_child_write_line(child, "end");
        CHECK_EQ(test_child_wait(child), 0);
        test_peer_close(peer);
}

TEST_NO_BUS(ringsWithoutMarksWakeSeldom)
{
        hear_posts("0");
}

TEST_NO_BUS(damagedWordsWakeSeldom)
{
        hear_posts("1");
}

TEST_NO_BUS(marksWithoutPostsWakeSeldom)
{
        hear_posts("2");
}

TEST_NO_BUS(pretendingToLeaveTheTableWakesSeldom)
{
        hear_posts("3");
}

typedef struct looks {
        _Atomic uint64_t n;
        _Atomic bool are_over;
} looks;

static uint64_t look_in_vain(void *context, const dn__post *post)
{
        (void)post;
        ((looks *)context)->n++;
        return 0;
}

static void miss_nothing(void *context)
{
        (void)context;
}

static void end_looks(void *context)
{
        ((looks *)context)->are_over = true;
}

static void hold_names(dn__region *region)
{
        char name[16];

        for (int i = 0; i < N_NAMES; i++) {
                snprintf(name, sizeof name, "name.%d", i);
                CHECK(dn__slot_hold(region, dn__hash64(name, strlen(name)), name, strlen(name)));
        }
}

/* A name that is marked costs an eighth of a wake-up. What remains of a budget of twice its size is
 * not carried over. Without a budget there are hundreds per millisecond. */
TEST_NO_BUS(namesThatWereNotPostedAreLookedAtSeldom)
{
        static const dn__sink sink = {
                .received = look_in_vain, .may_have_missed = miss_nothing, .closed = end_looks,
        };
        static looks looks;
        dn__region *region = open_region("none");
        dn__carrier *carrier;

        hold_names(region);
        CHECK_EQ(dn__direct_new(&sink, &looks, &carrier), 0);
        dn__direct_set_region(carrier, region);
        CHECK_EQ(dn__loop_start(dn__direct_get_loop(carrier)), 0);
        test_child *child = test_spawn_role("storm", "none", "2", NULL);
        CHECK_STREQ(test_child_read_line(child), "blowing");
        uint64_t begin_us = test_now_us(), n_before = looks.n;
        test_let_pass_ms(300);
        CHECK(looks.n - n_before < 2 * 8 * DN__STORM_BUDGET * count_spans(begin_us) + 4 * N_NAMES);
        test_child_write_line(child, "end");
        CHECK_EQ(test_child_wait(child), 0);
        carrier->ops->close(carrier);
        WAIT_UNTIL(looks.are_over);
        carrier->ops->free(carrier);
        dn__region_close(region);
}

TEST_NO_BUS(ringsWithoutMarksWakeAWatcherSeldom)
{
        static watch seen;

        test_bus_use_none();
        test_child *holder = spawn_observer("end", NULL);
        watch_start(&seen, NULL, NULL);
        test_child *child = test_spawn_role("storm", "none", "0", NULL);
        CHECK_STREQ(test_child_read_line(child), "blowing");
        sample before = take_sample();
        test_let_pass_ms(300);
        check_switches(before, 0);
        test_child_write_line(child, "end");
        CHECK_EQ(test_child_wait(child), 0);
        post_elsewhere("end", 1, "return");
        CHECK_EQ(watch_join(&seen), ENDED);
        CHECK_EQ(seen.n_records, 1);
        CHECK_EQ(test_child_wait(holder), 0);
}

TEST_MAIN()
