/* A table that is damaged, full or unavailable. */
#include <darwinnotify/inspect.h>
#include <poll.h>
#include <unistd.h>

#include "member.h"
#include "notify-tally.h"
#include "roles.h"
#include "shm.h"
#include "table-file.h"
#include "util/wake.h"

#define N_NAMES 3
#define N_ENTRIES 8 /* more than there are processes */

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
        static const uint64_t extremes[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 511, 512, 1025};
        uint64_t drawn = draw(seed);

        return drawn & 1 ? extremes[(drawn >> 8) % 7] : draw(seed);
}

static void scribble(_Atomic uint64_t *words, size_t n, uint64_t *seed)
{
        atomic_store(&words[draw(seed) % n], draw_value(seed));
}

/* What wakes others and says what was posted. */
static void scribble_at_entry(dn__shm_table *table, uint64_t *seed)
{
        size_t entry = draw(seed) % N_ENTRIES;
        dn__shm_process *process = &table->processes[entry];
        uint32_t looks_valid = DN__WAKE_OURS | (uint32_t)draw(seed) % 64;

        atomic_store(&process->wake, draw(seed) & 1 ? looks_valid : (uint32_t)draw_value(seed));
        scribble(process->marked, DN__SHM_SUMMARY_WORDS, seed);
        scribble(table->marks[entry], DN__SHM_MARK_WORDS, seed);
        scribble(table->followers, DN__SHM_HOLDER_WORDS, seed);
        scribble(&table->followed, 1, seed);
        dn__wake_rouse_block(&table->blocks[0].n_rings, UINT32_MAX);
}

/* Anything at all, most often where it does harm. */
static void scribble_anywhere(dn__shm_table *table, size_t slot, uint64_t *seed)
{
        size_t first = slot / DN__SHM_SLOTS_PER_SET * DN__SHM_SLOTS_PER_SET;

        scribble((_Atomic uint64_t *)&table->slots[slot], sizeof(dn__shm_slot) / 8, seed);
        scribble(&table->tags[first], DN__SHM_SLOTS_PER_SET, seed);
        scribble((_Atomic uint64_t *)&table->processes[draw(seed) % N_ENTRIES],
                 sizeof(dn__shm_process) / 8, seed);
        /* A call waits for a set that seems to belong to somebody. */
        if (draw(seed) % 64 == 0)
                scribble(&table->owners[slot / DN__SHM_SLOTS_PER_SET], 1, seed);
        if (draw(seed) % 64 == 0)
                scribble((_Atomic uint64_t *)table, DN__SHM_PAGE_BYTES / 8, seed);
        if (draw(seed) % 8 == 0)
                scribble((_Atomic uint64_t *)table, offsetof(dn__shm_table, processes) / 8, seed);
}

static void mark_all(dn__shm_table *table)
{
        for (size_t entry = 0; entry < N_ENTRIES; entry++) {
                memset((void *)table->marks[entry], 0xff, sizeof table->marks[entry]);
                memset((void *)table->processes[entry].marked, 0xff,
                       sizeof table->processes[entry].marked);
                atomic_store(&table->processes[entry].wake, UINT32_MAX);
        }
        dn__wake_rouse_block(&table->blocks[0].n_rings, UINT32_MAX);
}

/* Arguments: the key of the table, "marks" or "all". Writes into the table at full speed until it
 * reads a line. It could keep others from being woken for good, as with kill(); so what it leaves
 * behind are marks too many. */
ROLE(scribble)
{
        uint64_t seed = 88172645463325252;
        struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
        static dn__region *region; /* stays open: to close it would clear some marks */
        size_t slots[N_NAMES];

        region = enter_table(args[0]);
        for (size_t i = 0; i < N_NAMES; i++) {
                CHECK(find(region, names[i]) != NULL);
                slots[i] = (size_t)(find(region, names[i]) - region->table->slots);
        }
        printf("scribbling\n");
        while (poll(&end, 1, 0) == 0)
                for (int i = 0; i < 1000; i++) {
                        size_t slot = slots[draw(&seed) % N_NAMES];
                        scribble_at_entry(region->table, &seed);
                        scribble(region->table->slots[slot].holders, DN__SHM_HOLDER_WORDS, &seed);
                        if (args[1][0] == 'a')
                                scribble_anywhere(region->table, slot, &seed);
                }
        for (size_t i = 0; i < N_NAMES; i++)
                memset((void *)region->table->slots[slots[i]].holders, 0xff,
                       sizeof region->table->slots[slots[i]].holders);
        mark_all(region->table);
        return 0;
}

static test_child *spawn_scribbler(const test_bus *bus, const char *what)
{
        return test_child_await(
                test_spawn_role("scribble", test_bus_address(bus), what, NULL), "scribbling");
}

static test_child *spawn_three(void)
{
        return test_child_await(
                test_spawn_role("observe", names[0], names[1], names[2], NULL), "ready");
}

static void end_scribbling(test_child *scribbler)
{
        test_child_write_line(scribbler, "end");
        CHECK_EQ(test_child_wait(scribbler), 0);
}

static void post_each(void)
{
        for (size_t i = 0; i < N_NAMES; i++)
                post_soon(dn_center_darwin(), names[i]);
}

TEST(scribbledMarksDeliverNothingThatWasNotPosted)
{
        test_bus *bus = test_bus_begin();
        test_child *observer = spawn_three(), *scribbler = spawn_scribbler(bus, "marks");
        uint64_t n = 0;

        while (n < 300) {
                post_each();
                n++;
                for (unsigned i = 0; i < N_NAMES; i++) {
                        CHECK(child_calls(observer, i) <= n);
                        CHECK(child_posts(observer, i) <= n);
                }
        }
        end_scribbling(scribbler);
        for (uint64_t end = n + 10; n < end;) {
                post_each();
                n++;
                for (unsigned i = 0; i < N_NAMES; i++)
                        WAIT_UNTIL_EQ(child_posts(observer, i), n);
        }
        CHECK_EQ(test_child_wait(observer), 0);
}

/* Posts are delivered, whatever the numbers say. */
static void check_delivery(const char *name)
{
        static tally seen = {0};
        uint64_t n_before = seen.n_calls;
        int checked = add_check(name), token = add_callback(name, &seen);

        (void)is_changed(checked);
        WAIT_UNTIL((post_elsewhere(name, 1, "return"), seen.n_calls > n_before));
        WAIT_UNTIL(is_changed(checked));
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(checked), NOTIFY_STATUS_OK);
        fence_executor(); /* the count is final here */
}

static int look_at_record(const dn_name_record *record, void *context)
{
        for (size_t i = 0; i < record->n_holders; i++)
                CHECK(record->pids[i] >= 0);
        CHECK(strlen(record->name) >= 1 && strlen(record->name) <= DN_NAME_MAX_BYTES);
        return 0;
}

/* Everything that reads the table. */
static void use_all(int kept, tally *seen)
{
        int checked = -1, called = -1;
        uint64_t state;
        uint32_t value;

        (void)notify_register_check("B", &checked);
        (void)dn_notify_register_callback("A", COUNTING(seen), NULL, &called);
        for (int i = 0; i < 50; i++) {
                (void)is_changed(kept);
                CHECK_EQ(notify_set_state(kept, (uint64_t)i), NOTIFY_STATUS_OK);
                CHECK_EQ(notify_get_state(kept, &state), NOTIFY_STATUS_OK);
                CHECK_EQ(notify_peek(kept, &value), NOTIFY_STATUS_OK);
                CHECK(notify_is_valid_token(kept));
        }
        post_each();
        CHECK_EQ(dn_list_names(NULL, look_at_record, NULL), 0);
        (void)notify_cancel(checked);
        (void)notify_cancel(called);
}

/* Where the header makes no sense any more, all of them meet in the next table. */
TEST(randomBytesNeitherCrashNorHangAnybody)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};
        int kept = add_check("A");
        test_child *observer = spawn_three(), *scribbler = spawn_scribbler(bus, "all");

        for (int i = 0; i < 200; i++)
                use_all(kept, &seen);
        end_scribbling(scribbler);
        for (unsigned i = 0; i < N_NAMES; i++) {
                uint64_t n_before = child_posts(observer, i);
                WAIT_UNTIL((post_each(), child_posts(observer, i) > n_before));
                check_delivery(names[i]);
        }
        check_delivery("other");
        CHECK_EQ(test_child_wait(observer), 0);
}

/* Nobody is marked any more, and the sets seem to be changed by a process that lives. */
TEST_NO_BUS(removingTheFileRepairsWhatWasWritten)
{
        static tally seen;

        test_bus_use_none();
        test_child *child = spawn_member("A");
        tally_observe(dn_center_darwin(), "B", &seen);
        AUTO_REGION *region = enter_table("none");
        for (int i = 0; i < DN__SHM_N_SETS; i++)
                atomic_store(&region->table->owners[i], region->owner);
        for (int i = 0; i < 2; i++)
                memset((void *)find(region, names[i])->holders, 0,
                       sizeof(find(region, names[i])->holders));
        post_by(child, "B");
        post_ok(dn_center_darwin(), "A");
        remove_table();
        WAIT_UNTIL((post_by(child, "C"), has_table(child)));
        WAIT_UNTIL(posts_of(child) > 0 && seen.n_posts > 0);
        uint64_t of_child = posts_of(child), of_us = seen.n_posts;
        post_by(child, "B");
        post_ok(dn_center_darwin(), "A");
        WAIT_UNTIL(posts_of(child) > of_child && seen.n_posts > of_us);
        end_member(child);
}

/* The name "N" is not in the table. */
static void check_use_without_slot(void)
{
        static tally seen = {0};

        await_bus(dn_center_darwin());
        int token = add_check("N"), called = add_callback("N", &seen);
        uint64_t n_before = seen.n_calls;
        uint64_t n_signals = statistic(DN_STATISTIC_SIGNALS_RECEIVED);

        CHECK(is_changed(token));
        CHECK(!is_changed(token));
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_OK);
        test_child *child = spawn_member("N");
        CHECK_EQ(ask(child, "get"), 0);
        CHECK_EQ(ask(child, "set 2"), 0);
        CHECK_EQ(get_state(token), 1);
        CHECK_EQ(get_state(called), 1);
        post_elsewhere("N", 1, "_exit");
        WAIT_UNTIL_EQ(seen.n_calls, n_before + 1);
        CHECK(is_changed(token)); /* it knows what has arrived */
        CHECK(!is_changed(token));
        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
        CHECK(is_changed(token)); /* it knows its own posts immediately */
        CHECK(!is_changed(token));
        WAIT_UNTIL_EQ(seen.n_calls, n_before + 2);
        WAIT_UNTIL(statistic(DN_STATISTIC_SIGNALS_RECEIVED) > n_signals + 1); /* its own, too */
        fence_executor();
        CHECK_EQ(seen.n_calls, n_before + 2);
        end_member(child);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(called), NOTIFY_STATUS_OK);
        token = add_check("N");
        CHECK_EQ(get_state(token), 0);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
}

TEST_ON_BUS(nameWithoutRoomHasAStateInEachProcess)
{
        AUTO_REGION *region = enter_table(test_bus_address(test_bus_begin()));

        dn__shm_slot *filler = fill_set_of(region, "N");
        check_use_without_slot();
        int early = add_check("N");
        CHECK_EQ(notify_set_state(early, 3), NOTIFY_STATUS_OK);
        dn__slot_release(region, filler);
        int late = add_check("N"); /* now there is room: the state comes along */
        CHECK_EQ(get_state(late), 3);
        CHECK_EQ(get_state(early), 3);
        CHECK_EQ(notify_set_state(late, 4), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(early), 4);
}

TEST(nameThatReusesASlotStartsWithStateZero)
{
        dn__region *region = enter_table(test_bus_address(test_bus_begin()));

        fill_set_of(region, "N");
        dn__region_close(region); /* nobody holds the others any more */
        int token = add_check("N");
        CHECK_EQ(get_state(token), 0);
        test_child *child = spawn_member("N");
        CHECK_EQ(notify_set_state(token, 7), NOTIFY_STATUS_OK);
        CHECK_EQ(ask(child, "get"), 7); /* it is in the table */
        end_member(child);
}

TEST_ON_BUS(processesWithoutATableUseOnlyTheBus)
{
        test_bus_begin();

        forbid_tables();
        check_use_without_slot();
        CHECK_EQ(dn_list_names(NULL, look_at_record, NULL), 0);
}

TEST_MAIN()
