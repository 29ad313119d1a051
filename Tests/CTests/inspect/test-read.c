/* Reading a table through its file: its room, its processes, their unread marks. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "direct/ring.h"
#include "listing.h"
#include "roles.h"
#include "test-bus.h"
#include "test-child.h"

typedef struct copy {
        dn_table_record table;
        dn_process_record processes[8];
        size_t n_processes;
        size_t n_names;
        uint64_t n_posts; /* of the last name */
} copy;

static int take_table(const dn_table_record *record, void *context)
{
        ((copy *)context)->table = *record;
        return 0;
}

static int take_name(const dn_name_record *record, void *context)
{
        ((copy *)context)->n_names++;
        ((copy *)context)->n_posts = record->n_posts;
        return 0;
}

static int take_process(const dn_process_record *record, void *context)
{
        copy *self = context;

        CHECK(self->n_processes < 8);
        self->processes[self->n_processes++] = *record;
        return 0;
}

static int stop(const dn_table_record *record, void *context)
{
        (void)record;
        return *(int *)context;
}

/* Opens the table of a bus for reading alone, as a process of another user would. */
static int open_read_only(const char *bus)
{
        char *path;
        int fd = dn_find_table(bus, &path), only;

        CHECK(fd >= 0);
        only = open(path, O_RDONLY | O_CLOEXEC);
        CHECK(only >= 0);
        close(fd);
        free(path);
        return only;
}

static copy read_now(const char *bus, const char *name)
{
        copy copy = {0};
        dn_table_reader reader = {.table = take_table, .name = take_name,
                                  .process = take_process, .context = &copy,
                                  .name_of_interest = name};
        int fd = open_read_only(bus);

        CHECK_EQ(dn_read_table(fd, &reader), 0);
        close(fd);
        return copy;
}

TEST_NO_BUS(theTableCountsItsSlotsAndProcesses)
{
        AUTO_REGION *region = open_region(NOWHERE), *other = open_region(NOWHERE);
        copy copy;

        hold(region, "a");
        hold(other, "a");
        dn__slot_release(region, hold(region, "b"));
        copy = read_now(NOWHERE, "c");
        CHECK_EQ(copy.table.region, region->id);
        CHECK_EQ(copy.table.n_slots, DN__SHM_N_SLOTS);
        CHECK_EQ(copy.table.n_named, 2);
        CHECK_EQ(copy.table.n_entries, DN__SHM_N_PROCESSES);
        CHECK_EQ(copy.table.n_processes, 2);
        CHECK(copy.table.has_room);
        CHECK_EQ(copy.n_names, 1);
        CHECK_EQ(copy.n_processes, 2);
        CHECK_EQ(copy.processes[0].pid, getpid());
        CHECK_EQ(copy.processes[0].n_names, 1);
        CHECK_EQ(copy.processes[0].n_unread, 0);
        CHECK(!copy.processes[0].follows);
}

TEST_NO_BUS(aNameHasNoRoomOnceItsSetIsHeld)
{
        AUTO_REGION *region = open_region(NOWHERE);
        int n_held = 0;
        char name[32];

        for (int i = 0; n_held < DN__SHM_SLOTS_PER_SET; i++) {
                snprintf(name, sizeof name, "like.%d", i);
                if (set_of(name) != set_of("wanted"))
                        continue;
                CHECK(read_now(NOWHERE, "wanted").table.has_room);
                hold(region, name);
                n_held++;
        }
        CHECK(!read_now(NOWHERE, "wanted").table.has_room);
        CHECK(read_now(NOWHERE, name).table.has_room);
        CHECK(read_now(NOWHERE, NULL).table.has_room);
}

TEST_NO_BUS(marksAreUnreadUntilTheirProcessTakesThem)
{
        AUTO_REGION *poster = open_region(NOWHERE), *holder = open_region(NOWHERE);
        dn__name name = slot_name("a");
        copy copy;

        hold(holder, "a");
        dn__ring_follow(holder);
        dn__slot_count_post(dn__slot_find(poster, &name));
        dn__ring_holders(poster, dn__slot_find(poster, &name));
        copy = read_now(NOWHERE, NULL);
        CHECK_EQ(copy.n_posts, 1);
        CHECK_EQ(copy.processes[0].n_unread + copy.processes[1].n_unread, 1);
        CHECK_EQ(copy.processes[holder->process].n_unread, 1);
        CHECK(copy.processes[holder->process].follows && !copy.processes[poster->process].follows);
}

TEST(aStoppedObserverHasUnreadPosts)
{
        test_bus_begin();
        test_child *child = spawn_observer("held", NULL);

        test_child_pause(child);
        post_elsewhere("held", 3, "_exit");
        copy copy = read_now(NULL, NULL);
        CHECK_EQ(copy.n_processes, 1);
        CHECK_EQ(copy.processes[0].pid, test_child_pid(child));
        CHECK_EQ(copy.processes[0].n_unread, 1);
        CHECK_EQ(copy.n_posts, 3);
        test_child_resume(child);
        WAIT_UNTIL_EQ(read_now(NULL, NULL).processes[0].n_unread, 0);
}

TEST_NO_BUS(aFileThatIsCutOffIsNoTable)
{
        dn_table_reader reader = {0};
        char *path;
        int fd;

        dn__region_close(open_region(NOWHERE));
        fd = dn_find_table(NOWHERE, &path);
        CHECK(fd >= 0);
        CHECK_EQ(dn_read_table(fd, &reader), 0);
        CHECK_EQ(truncate(path, 5000), 0);
        CHECK_EQ(dn_read_table(fd, &reader), -EINVAL);
        close(fd);
        free(path);
        CHECK_EQ(dn_find_table(NOWHERE, &path), -ENOENT);
}

TEST_NO_BUS(wrongArgumentsAreRefused)
{
        static int stopped = 5, failed = -5;
        dn_table_reader reader = {.table = stop, .context = &stopped};
        char *path;
        int fd;

        CHECK_EQ(dn_find_table(NOWHERE, &path), -ENOENT);
        CHECK_EQ(dn_find_table("", &path), -EINVAL);
        CHECK_EQ(dn_find_table(NOWHERE, NULL), -EINVAL);
        dn__region_close(open_region(NOWHERE));
        fd = open_read_only(NOWHERE);
        CHECK_EQ(dn_read_table(-1, &reader), -EINVAL);
        CHECK_EQ(dn_read_table(fd, NULL), -EINVAL);
        CHECK_EQ(dn_read_table(fd, &reader), 5);
        reader.context = &failed;
        CHECK_EQ(dn_read_table(fd, &reader), -EINVAL);
        reader = (dn_table_reader){.reserved = {1}};
        CHECK_EQ(dn_read_table(fd, &reader), -EINVAL);
        close(fd);
}

TEST_MAIN()
