/* A process of the same user writes nonsense over what wakes others: marks, holders, wake words. */
#include <poll.h>

#include "roles.h"
#include "shm.h"
#include "util/wake.h"

#define N_NAMES 3
#define N_ENTRIES 8 /* more than there are processes */
#define N_ROUNDS 300

static const char *const names[N_NAMES] = {"A", "B", "C"};

static uint64_t draw(uint64_t *seed)
{
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        return *seed;
}

/* Returns a value to overwrite with: often one that looks valid. */
static uint64_t draw_value(uint64_t *seed)
{
        static const uint64_t extremes[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63};
        uint64_t drawn = draw(seed);

        return drawn & 1 ? extremes[(drawn >> 8) % 4] : draw(seed);
}

static void scribble_at_entry(dn__shm_table *table, size_t entry, uint64_t *seed)
{
        dn__shm_process *process = &table->processes[entry];
        uint32_t looks_valid = DN__WAKE_OURS | (uint32_t)draw(seed) % 64;

        atomic_store(&process->wake, draw(seed) & 1 ? looks_valid : (uint32_t)draw_value(seed));
        atomic_store(&process->marked[draw(seed) % DN__SHM_SUMMARY_WORDS], draw_value(seed));
        atomic_store(&process->held[draw(seed) % DN__SHM_SUMMARY_WORDS], draw_value(seed));
        atomic_store(&table->marks[entry][draw(seed) % DN__SHM_MARK_WORDS], draw_value(seed));
        atomic_store(&table->watchers[draw(seed) % DN__SHM_HOLDER_WORDS], draw_value(seed));
        atomic_store(&table->watched, draw_value(seed));
        dn__wake_rouse(&process->wake, DN__WAKE_SHARED);
}

static void mark_all(dn__shm_table *table)
{
        for (size_t entry = 0; entry < N_ENTRIES; entry++) {
                for (size_t i = 0; i < DN__SHM_MARK_WORDS; i++)
                        atomic_store(&table->marks[entry][i], UINT64_MAX);
                for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++)
                        atomic_store(&table->processes[entry].marked[i], UINT64_MAX);
                atomic_store(&table->processes[entry].wake, UINT32_MAX);
                dn__wake_rouse(&table->processes[entry].wake, DN__WAKE_SHARED);
        }
}

static dn__shm_slot *slot_of(const dn__region *region, const char *name)
{
        dn__shm_slot *slot =
                dn__slot_find(region, dn__hash64(name, strlen(name)), name, strlen(name));

        CHECK(slot != NULL);
        return slot;
}

static void set_holders(const dn__region *region, uint64_t (*value)(uint64_t *seed), uint64_t *seed)
{
        for (size_t i = 0; i < N_NAMES; i++)
                atomic_store(&slot_of(region, names[i])->holders[draw(seed) % 2], value(seed));
}

static uint64_t all_ones(uint64_t *seed)
{
        (void)seed;
        return UINT64_MAX;
}

/* Arguments: the key of the table. Writes until it reads a line. It could keep others from being
 * woken for good, as with kill(); so what it leaves behind are holders and marks too many. */
ROLE(scribble)
{
        uint64_t seed = 88172645463325252;
        struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
        static dn__region *region; /* stays open: to close it would clear some marks */

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(args[0], &region), 0);
        printf("scribbling\n");
        while (poll(&end, 1, 0) == 0)
                for (int i = 0; i < 1000; i++) {
                        scribble_at_entry(region->table, draw(&seed) % N_ENTRIES, &seed);
                        set_holders(region, draw_value, &seed);
                }
        for (int i = 0; i < 100; i++)
                set_holders(region, all_ones, &seed);
        mark_all(region->table);
        return 0;
}

static test_child *spawn_three(void)
{
        test_child *observer =
                test_spawn_role("observe", names[0], names[1], names[2], NULL);

        CHECK_STREQ(test_child_read_line(observer), "ready");
        return observer;
}

static void post_each(void)
{
        for (size_t i = 0; i < N_NAMES; i++)
                post_soon(dn_center_darwin(), names[i]);
}

TEST(scribbledMarksDeliverNothingThatWasNotPosted)
{
        test_bus *bus = test_bus_begin();
        test_child *observer = spawn_three();
        test_child *scribbler = test_spawn_role("scribble", test_bus_address(bus), NULL);
        uint64_t n = 0;

        CHECK_STREQ(test_child_read_line(scribbler), "scribbling");
        while (n < N_ROUNDS) {
                post_each();
                n++;
                for (unsigned i = 0; i < N_NAMES; i++) {
                        CHECK(child_calls(observer, i) <= n);
                        CHECK(child_posts(observer, i) <= n);
                }
        }
        test_child_write_line(scribbler, "end");
        CHECK_EQ(test_child_wait(scribbler), 0);
        for (uint64_t end = n + 10; n < end;) {
                post_each();
                n++;
                for (unsigned i = 0; i < N_NAMES; i++)
                        WAIT_UNTIL_EQ(child_posts(observer, i), n);
        }
        CHECK_EQ(test_child_wait(observer), 0);
        test_bus_stop(bus);
}

TEST_MAIN()
