/* A table that is damaged, full or unavailable. */
#include <darwinnotify/inspect.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notify-tally.h"
#include "roles.h"
#include "shm.h"
#include "util/hash.h"

#define N_ROUNDS 20000

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

static dn__shm_slot *find_slot(const dn__region *region, const char *name)
{
        return dn__slot_find(region, dn__hash64(name, strlen(name)), name, strlen(name));
}

static void scribble_into_slot(dn__shm_slot *slot, uint64_t *seed)
{
        atomic_store(&slot->generation, draw_value(seed));
        atomic_store(&slot->state, draw_value(seed));
        atomic_store(&slot->n_name_bytes, draw_value(seed));
        atomic_store(&slot->name[draw(seed) % DN__SHM_NAME_WORDS], draw_value(seed));
}

static void scribble_around(dn__region *region, size_t index, uint64_t *seed)
{
        dn__shm_table *table = region->table;
        size_t first = index / DN__SHM_SLOTS_PER_SET * DN__SHM_SLOTS_PER_SET;

        atomic_store(&table->processes[draw(seed) % 8].pid, draw_value(seed));
        atomic_store(&table->tags[first + draw(seed) % DN__SHM_SLOTS_PER_SET], draw_value(seed));
        atomic_store(&table->slots[index].holders[draw(seed) % DN__SHM_HOLDER_WORDS],
                     draw_value(seed));
        if (draw(seed) % 64 == 0)
                atomic_store(&table->owners[index / DN__SHM_SLOTS_PER_SET], draw_value(seed));
        atomic_store(&table->n_processes_used, draw_value(seed));
}

/* Arguments: address of the bus, name. Damages what belongs to the name until killed. */
ROLE(scribble)
{
        uint64_t seed = 88172645463325252;
        dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(args[0], &region), 0);
        dn__shm_slot *slot = find_slot(region, args[1]);
        CHECK(slot != NULL);
        size_t index = (size_t)(slot - region->table->slots);
        printf("scribbling\n");
        for (;;) {
                scribble_into_slot(slot, &seed);
                if (n_args > 2)
                        scribble_around(region, index, &seed);
        }
}

static test_child *spawn_scribbler(const test_bus *bus, const char *name, const char *all)
{
        test_child *child = test_spawn_role("scribble", test_bus_address(bus), name, all, NULL);

        CHECK_STREQ(test_child_read_line(child), "scribbling");
        return child;
}

/* The bus still delivers posts, whatever the numbers say. */
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

TEST_ON_BUS(scribbledNumbersDoNotBreakChecks)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};
        int checked = add_check("N"), called = add_callback("N", &seen);
        test_child *scribbler = spawn_scribbler(bus, "N", NULL);
        uint32_t value;
        bool changed = false;

        for (uint64_t i = 0; i < N_ROUNDS; i++) {
                changed |= is_changed(checked);
                changed |= is_changed(called);
                (void)get_state(checked);
                CHECK_EQ(notify_set_state(called, i), NOTIFY_STATUS_OK);
                CHECK_EQ(notify_peek(checked, &value), NOTIFY_STATUS_OK);
                CHECK(notify_is_valid_token(checked));
                if (i % 100 == 0)
                        CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
        }
        CHECK(changed);
        test_child_kill(scribbler);
        CHECK_EQ(notify_set_state(called, 42), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(checked), 42);
        check_delivery("N");
        CHECK_EQ(notify_cancel(checked), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(called), NOTIFY_STATUS_OK);
        check_delivery("other");
        test_bus_stop(bus);
}

TEST_ON_BUS(scribbledTableDoesNotBreakRegistration)
{
        test_bus *bus = test_bus_begin();
        static tally seen = {0};
        test_child *scribbler;
        int kept = add_check("N");

        scribbler = spawn_scribbler(bus, "N", "all");
        for (int i = 0; i < 200; i++) {
                int checked = add_check("N"), called = add_callback("N", &seen);
                CHECK_EQ(notify_set_state(checked, 5), NOTIFY_STATUS_OK);
                CHECK_EQ(notify_post("N"), NOTIFY_STATUS_OK);
                (void)is_changed(checked);
                (void)get_state(called);
                (void)is_changed(kept);
                CHECK_EQ(notify_cancel(checked), NOTIFY_STATUS_OK);
                CHECK_EQ(notify_cancel(called), NOTIFY_STATUS_OK);
        }
        test_child_kill(scribbler);
        check_delivery("N");
        check_delivery("other");
        test_bus_stop(bus);
}

static int look_at_record(const dn_name_record *record, void *context)
{
        for (size_t i = 0; i < record->n_holders; i++)
                CHECK(record->pids[i] >= 0);
        CHECK(strlen(record->name) >= 1 && strlen(record->name) <= DN_NAME_MAX_BYTES);
        ++*(unsigned *)context;
        return 0;
}

TEST(scribbledTableCanBeListed)
{
        test_bus *bus = test_bus_begin();
        unsigned n_records = 0;

        add_check("N");
        add_check("M");
        test_child *scribbler = spawn_scribbler(bus, "N", "all");
        for (int i = 0; i < 500; i++)
                CHECK_EQ(dn_list_names(NULL, look_at_record, &n_records), 0);
        CHECK(n_records > 0);
        test_child_kill(scribbler);
        test_bus_stop(bus);
}

/* Prints "ready", then answers each line with its state, which it then sets to 2. */
ROLE(holdAlone)
{
        int token = add_check("N");
        char line[16];

        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                printf("%llu\n", (unsigned long long)get_state(token));
                CHECK_EQ(notify_set_state(token, 2), NOTIFY_STATUS_OK);
        }
        return 0;
}

/* The name "N" is not in the table. */
static void check_use_without_slot(void)
{
        static tally seen = {0};

        await_bus(dn_center_darwin());
        int token = add_check("N"), called = add_callback("N", &seen);
        uint64_t n_before = seen.n_calls;

        CHECK(is_changed(token));
        CHECK(!is_changed(token));
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_OK);
        test_child *child = test_spawn_role("holdAlone", NULL);
        CHECK_STREQ(test_child_read_line(child), "ready");
        CHECK_STREQ(test_child_ask(child, "state"), "0");
        CHECK_STREQ(test_child_ask(child, "state"), "2");
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
        CHECK_EQ(test_child_wait(child), 0);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(called), NOTIFY_STATUS_OK);
        token = add_check("N");
        CHECK_EQ(get_state(token), 0);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
}

TEST_ON_BUS(nameWithoutRoomHasAStateInEachProcess)
{
        test_bus *bus = test_bus_begin();
        dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(test_bus_address(bus), &region), 0);
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
        dn__region_close(region);
        test_bus_stop(bus);
}

TEST(nameThatReusesASlotStartsWithStateZero)
{
        test_bus *bus = test_bus_begin();
        dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(test_bus_address(bus), &region), 0);
        fill_set_of(region, "N");
        dn__region_close(region); /* nobody holds the others any more */
        int token = add_check("N");
        CHECK_EQ(get_state(token), 0);
        test_child *child = test_spawn_role("holdAlone", NULL);
        CHECK_STREQ(test_child_read_line(child), "ready");
        CHECK_EQ(notify_set_state(token, 7), NOTIFY_STATUS_OK);
        CHECK_STREQ(test_child_ask(child, "state"), "7"); /* it is in the table */
        CHECK_EQ(test_child_wait(child), 0);
        test_bus_stop(bus);
}

/* Each creates something other than a private directory in its place. */
static void make_open_directory(const char *path)
{
        CHECK_EQ(mkdir(path, 0700), 0);
        CHECK_EQ(chmod(path, 0755), 0);
}

static void make_link(const char *path)
{
        char target[300];

        snprintf(target, sizeof target, "%s.target", path);
        CHECK_EQ(mkdir(target, 0700), 0);
        CHECK_EQ(symlink(target, path), 0);
}

static void make_file(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        close(fd);
}

static void make_pipe(const char *path)
{
        CHECK_EQ(mkfifo(path, 0600), 0);
}

static int look_at_none(const dn_name_record *record, void *context)
{
        (void)record;
        (void)context;
        return 0;
}

/* All of them find another place. */
static void check_with_in_place(void (*make)(const char *path))
{
        test_bus *bus = test_bus_begin();
        char path[256];

        snprintf(path, sizeof path, "%s/darwin-notify", test_bus_directory(bus));
        make(path);
        CHECK_EQ(test_child_wait(test_spawn_role("useInAPlace", NULL)), 0);
        int token = add_check("N");
        test_child *child = test_spawn_role("holdAlone", NULL);
        CHECK_STREQ(test_child_read_line(child), "ready");
        CHECK_EQ(notify_set_state(token, 7), NOTIFY_STATUS_OK);
        CHECK_STREQ(test_child_ask(child, "state"), "7");
        CHECK_EQ(test_child_wait(child), 0);
        CHECK_EQ(dn_list_names(NULL, look_at_none, NULL), 0);
        test_bus_stop(bus);
}

TEST_ON_BUS(processesWithoutATableUseOnlyTheBus)
{
        test_bus *bus = test_bus_begin();

        forbid_tables();
        check_use_without_slot();
        CHECK_EQ(dn_list_names(NULL, look_at_record, NULL), -EACCES);
        test_bus_stop(bus);
}

TEST(directoryOpenToOthersIsHarmless)
{
        check_with_in_place(make_open_directory);
}

TEST(linkInPlaceOfTheDirectoryIsHarmless)
{
        check_with_in_place(make_link);
}

TEST(fileInPlaceOfTheDirectoryIsHarmless)
{
        check_with_in_place(make_file);
}

TEST(pipeInPlaceOfTheDirectoryIsHarmless)
{
        check_with_in_place(make_pipe);
}

TEST(missingRuntimeDirectoryIsHarmless)
{
        static const char *const places[] = {NULL, "", "relative", "/nonexistent", "/dev/null"};
        test_bus *bus = test_bus_begin();

        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                if (places[i])
                        setenv("XDG_RUNTIME_DIR", places[i], 1);
                else
                        unsetenv("XDG_RUNTIME_DIR");
                CHECK_EQ(test_child_wait(test_spawn_role("useInAPlace", NULL)), 0);
        }
        test_bus_stop(bus);
}

/* Does not care where the table is. */
ROLE(useInAPlace)
{
        int token = add_check("N");

        CHECK(is_changed(token));
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(token), 1);
        check_delivery("N");
        CHECK_EQ(get_state(token), 1);
        return 0;
}

TEST_MAIN()
