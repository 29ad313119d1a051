/* The table shared by a user's processes. */
#include "table/slot.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "direct/ring.h"
#include "shm.h"
#include "test-child.h"
#include "util/hash.h"

static ptrdiff_t position(const dn__region *region, const dn__shm_slot *slot)
{
        return slot - region->table->slots;
}

/* A name has its page of tags and its slot, an entry its page of marks. The second region has the
 * entry that the first one had, so it clears what the first one held. */
TEST_NO_BUS(aTableTakesMemoryOnlyForNamesAndEntriesInUse)
{
        struct stat file;

        for (int i = 0; i < 2; i++) {
                AUTO_REGION *region = open_region("key");
                CHECK(hold(region, "com.example.x"));
                CHECK_EQ(stat(region->file.path, &file), 0);
                CHECK(file.st_blocks * 512 <= 10 * DN__SHM_PAGE_BYTES);
        }
}

static uint64_t count_post_of(const dn__region *region, const char *name)
{
        dn__name posted = slot_name(name);
        dn__shm_slot *slot = dn__slot_find(region, &posted);

        return slot ? dn__slot_count_for_others(region, slot, &posted) : 0;
}

TEST_NO_BUS(onlyNamesWithASlotAreCounted)
{
        AUTO_REGION *holder = open_region("key"), *poster = open_region("key");
        dn__shm_slot *slot;
        uint64_t before;

        CHECK_EQ(count_post_of(poster, "x"), 0);
        CHECK(find(poster, "x") == NULL);
        slot = hold(holder, "x");
        before = dn__slot_get_generation(slot);
        CHECK_EQ(count_post_of(poster, "x"), before + 1);
        CHECK_EQ(count_post_of(holder, "x"), before + 2);
        CHECK_EQ(count_post_of(poster, "y"), 0);
        CHECK_EQ(dn__slot_get_generation(slot), before + 2);
}

TEST_NO_BUS(aSlotWithoutATagHasNoName)
{
        AUTO_REGION *region = open_region("key");
        dn__shm_slot *slot = hold(region, "x");
        char text[DN__SLOT_NAME_BYTES];
        dn__name found;

        CHECK(dn__slot_read_name(region, (size_t)position(region, slot), text, &found));
        CHECK_STREQ(found.text, "x");
        region->table->tags[position(region, slot)] = 0;
        CHECK(!dn__slot_read_name(region, (size_t)position(region, slot), text, &found));
}

#define N_MOVES 200000

static void *leave_often(void *region)
{
        for (int i = 0; i < N_MOVES; i++)
                dn__region_set_stale(region);
        return NULL;
}

/* The number is odd while a table is stale. */
TEST_NO_BUS(eachMoveOfTwoThreadsIsCounted)
{
        AUTO_REGION *region = open_region("key");
        pthread_t thread = test_start_thread(leave_often, region);

        (void)leave_often(region);
        pthread_join(thread, NULL);
        CHECK_EQ(dn__region_get_stale_count(region), 4 * N_MOVES - 1);
}

TEST_NO_BUS(namesWithTheSameHashAreDistinct)
{
        AUTO_REGION *region = open_region("key");
        dn__shm_slot *slot = hold(region, "x");
        dn__name other = slot_name("y");

        other.hash = slot_name("x").hash;
        CHECK(find(region, "x") == slot);
        CHECK(dn__slot_find(region, &other) == NULL);
        CHECK_EQ(dn__slot_count_for_others(region, slot, &other), 0);
}

/* Without a bus, a name that finds its set full cannot be observed. */
TEST_NO_BUS(tenThousandNamesFindRoom)
{
        for (int family = 0; family < 200; family++) {
                unsigned n_names[DN__SHM_N_SETS] = { 0 };

                for (int i = 0; i < 10000; i++) {
                        char name[64];
                        int n = snprintf(name, sizeof(name), "com.example.%d.%d", family, i);
                        size_t set = dn__shm_set_of(dn__hash64(name, (size_t)n));

                        CHECK(++n_names[set] <= DN__SHM_SLOTS_PER_SET);
                }
        }
}

TEST_NO_BUS(fullSetReusesTheSlotOfAnUnheldName)
{
        AUTO_REGION *region = open_region("key");
        dn__shm_slot *slots[DN__SHM_SLOTS_PER_SET] = { hold(region, "x") };
        uint64_t generation = 0;
        char name[64];

        for (int i = 1; i < DN__SHM_SLOTS_PER_SET; i++) {
                name_in_set_of("x", i - 1, name);
                slots[i] = hold(region, name);
                CHECK(slots[i] != NULL);
        }
        name_in_set_of("x", DN__SHM_SLOTS_PER_SET, name);
        CHECK(hold(region, name) == NULL);
        for (int i = 0; i < 5; i++)
                generation = dn__slot_count_post(slots[5]);
        dn__slot_release(region, slots[5]);
        CHECK(hold(region, name) == slots[5]);
        CHECK(dn__slot_get_generation(slots[5]) > generation); /* no count is seen twice */
        CHECK(find(region, name) == slots[5]);
}

static bool holds(const dn__region *region, const dn__shm_slot *slot, unsigned process)
{
        const dn__shm_slot *ours = &region->table->slots[position(region, slot)];

        return ours->holders[process / 64] >> process % 64 & 1;
}

/* Returns the entry of a process that held names and was killed. */
static unsigned entry_of_dead_holder(void (*hold_names)(dn__region *region))
{
        int entry[2], status;
        unsigned process;
        pid_t pid;

        CHECK_EQ(pipe(entry), 0);
        pid = test_fork();
        if (pid == 0) {
                dn__region *child = open_region("key");

                hold_names(child);
                CHECK_EQ(write(entry[1], &child->process, sizeof(child->process)),
                         (ssize_t)sizeof(child->process));
                raise(SIGKILL);
        }
        CHECK_EQ(read(entry[0], &process, sizeof(process)), (ssize_t)sizeof(process));
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        close(entry[0]);
        close(entry[1]);
        return process;
}

static void fill_set(dn__region *region)
{
        (void)fill_set_of(region, "x");
}

TEST_NO_BUS(holdsOfADeadProcessAreReleased)
{
        AUTO_REGION *region = open_region("key");
        char name[64];

        (void)entry_of_dead_holder(fill_set);
        CHECK(hold(region, "x") != NULL);
        name_in_set_of("x", DN__SHM_SLOTS_PER_SET + 1, name);
        CHECK(hold(region, name) != NULL);
}

/* In at least three blocks of 64 slots. */
static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

static void hold_names(dn__region *region)
{
        for (size_t i = 0; i < 6; i++)
                CHECK(hold(region, names[i]) != NULL);
        region->table->owners[set_of("other")] = region->owner; /* it dies there */
}

TEST_NO_BUS(nextProcessOfAnEntryStartsClean)
{
        AUTO_REGION *region = open_region("key");
        unsigned process = entry_of_dead_holder(hold_names);
        dn__shm_table *table = region->table;

        for (size_t i = 0; i < 6; i++)
                CHECK(holds(region, find(region, names[i]), process));
        table->marks[process][3] = 7;
        table->processes[process].marked[0] = 8;
        AUTO_REGION *heir = open_region("key");
        CHECK_EQ(heir->process, process);
        for (size_t i = 0; i < 6; i++)
                CHECK(!holds(region, find(region, names[i]), process));
        CHECK_EQ(table->owners[set_of("other")], 0);
        CHECK_EQ(table->marks[process][3], 0);
        CHECK_EQ(table->processes[process].marked[0], 0);
        CHECK(holds(region, hold(heir, "b"), process));
        CHECK(!holds(region, find(region, "a"), process));
}

static bool is_late;
static dn__region *late;

#if !TEST_HAS_SANITIZER
/* Overrides libc's: another process enters when this one asks whether a holder is alive. */
int fcntl(int fd, int command, ...)
{
        va_list arguments;
        void *argument;

        va_start(arguments, command);
        argument = va_arg(arguments, void *);
        va_end(arguments);
        if (command == F_OFD_GETLK && is_late) {
                is_late = false;
                late = open_region("key");
        }
        return (int)syscall(SYS_fcntl, fd, command, argument);
}
#endif

static void hold_with_state(dn__region *region)
{
        hold(region, "x")->state = 7;
}

/* The new process takes over the entry, not the names. */
TEST_NO_BUS(stateOfADeadProcessEndsThoughANewOneHasItsEntry)
{
        AUTO_REGION *region = open_region("key");

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has system calls of its own");
        (void)entry_of_dead_holder(hold_with_state);
        is_late = true;
        CHECK_EQ(hold(region, "x")->state, 0);
        CHECK(!is_late);
        dn__region_close(late);
}

#define N_REGIONS 66 /* the bits of the last one are in the second word */

static void open_regions(dn__region *regions[N_REGIONS])
{
        for (int i = 0; i < N_REGIONS; i++)
                regions[i] = open_region("key");
        CHECK(regions[N_REGIONS - 1]->process >= 64);
}

static void close_regions(dn__region *regions[N_REGIONS])
{
        for (int i = 0; i < N_REGIONS; i++)
                dn__region_close(regions[i]);
}

TEST_NO_BUS(slotWhoseNamingWasCutShortHasNoHolderLeft)
{
        dn__region *regions[N_REGIONS], **last = &regions[N_REGIONS - 1];
        unsigned process;
        ptrdiff_t index;

        open_regions(regions);
        index = position(*last, hold(*last, "x"));
        process = (*last)->process;
        /* As if the process had died in the middle of giving the slot to another name. */
        (*last)->table->tags[index] = 0;
        dn__region_close(*last);
        *last = open_region("key");
        CHECK_EQ((*last)->process, process);
        CHECK_EQ(position(*regions, hold(*regions, "x")), index);
        CHECK(!holds(*last, find(*last, "x"), process));
        close_regions(regions);
}

/* A watching process is rung for every name. */
TEST_NO_BUS(processBeyondTheFirstWordHoldsAndWatchesAsOthersDo)
{
        dn__region *regions[N_REGIONS], **last = &regions[N_REGIONS - 1];
        dn__shm_slot *slot;

        open_regions(regions);
        slot = hold(regions[1], "x");
        dn__ring_holders(*regions, &(*regions)->table->slots[position(regions[1], slot)]);
        CHECK(dn__ring_is_marked(regions[1]) && !dn__ring_is_marked(*last));
        dn__ring_follow(*last);
        dn__ring_holders(*regions, &(*regions)->table->slots[position(regions[1], slot)]);
        CHECK(dn__ring_is_marked(*last) && !dn__ring_is_marked(regions[2]));
        slot = hold(*last, "x");
        CHECK(holds(*last, slot, (*last)->process));
        dn__slot_release(*last, slot);
        CHECK(!holds(*last, slot, (*last)->process));
        close_regions(regions);
}

typedef struct taking {
        dn__region *region;
        _Atomic size_t order[2];
        _Atomic unsigned n_taken;
        _Atomic bool is_over;
} taking;

static void note_taken(void *context, size_t slot_index)
{
        taking *taking = context;

        taking->order[taking->n_taken % 2] = slot_index;
        taking->n_taken++;
}

static void *take_all_the_time(void *context)
{
        taking *taking = context;

        while (!taking->is_over)
                dn__ring_take(taking->region, note_taken, taking);
        return NULL;
}

/* The second post may come when a look at the marks is about to find it, but not the first. */
TEST_NO_BUS(twoPostsInARowAreTakenInTheirOrder)
{
        taking taking = { .region = open_region("key") };
        AUTO_REGION *poster = open_region("key");
        bool is_first = position(taking.region, hold(taking.region, names[0])) <
                        position(taking.region, hold(taking.region, names[1]));
        const char *const order[] = { names[!is_first], names[is_first] };

        pthread_t thread = test_start_thread(take_all_the_time, &taking);
        for (unsigned i = 0; i < 2000; i++) {
                for (int j = 0; j < 2; j++) {
                        CHECK(count_post_of(poster, order[j]) > 0);
                        dn__ring_holders(poster, find(poster, order[j]));
                }
                while (taking.n_taken < 2 * (i + 1))
                        ;
                CHECK_EQ(taking.order[0], position(poster, find(poster, order[0])));
        }
        taking.is_over = true;
        pthread_join(thread, NULL);
        dn__region_close(taking.region);
}

TEST_NO_BUS(setIsTakenOverFromADeadOwner)
{
        AUTO_REGION *region = open_region("key");
        size_t set = set_of("x");

        /* An entry that no process has. */
        region->table->owners[set] = DN__SHM_N_PROCESSES;
        CHECK(hold(region, "x") != NULL);
        /* Not a valid entry. */
        region->table->owners[set] = UINT64_MAX;
        CHECK(hold(region, "x") != NULL);
}

TEST_NO_BUS(waitForASetOfAStoppedOwnerTimesOut)
{
        AUTO_REGION *a = open_region("key"), *b = open_region("key");
        size_t set = set_of("x");

        a->table->owners[set] = a->owner;
        CHECK(hold(b, "x") == NULL);
        a->table->owners[set] = 0;
        CHECK(hold(b, "x") != NULL);
}

static dn__region *loser; /* another process takes each room that it finds; NULL: none is taken */
static int n_taken;

#if !TEST_HAS_SANITIZER
/* Overrides libc's: called for the memory of the room. */
int madvise(void *memory, size_t n_bytes, int advice)
{
        static dn__shm_slot *taken;
        dn__region *region = loser;

        if (region && memory >= (void *)region->table->slots) {
                dn__shm_slot *before = taken;
                char name[64] = "";

                loser = NULL;
                name_in_set_of("x", n_taken++, name);
                taken = hold(late, name);
                dn__slot_release(late, before);
                loser = region;
        }
        return (int)syscall(SYS_madvise, memory, n_bytes, advice);
}
#endif

TEST_NO_BUS(aProcessWhoseRoomIsAlwaysTakenGivesUp)
{
        AUTO_REGION *region = open_region("key");

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has system calls of its own");
        late = open_region("key");
        loser = region;
        CHECK(hold(region, "x") == NULL);
        CHECK(n_taken > 1);
        loser = NULL;
        CHECK(hold(region, "x") != NULL);
        dn__region_close(late);
}

#define N_CROWD 30

/* Opens the table and holds a name at the same time as all others. */
static int be_in_crowd(int start)
{
        char byte;

        (void)!read(start, &byte, 1); /* returns when the writer has exited */
        return hold(open_region("key"), "com.example.x") ? 0 : 1;
}

TEST_NO_BUS(manyProcessesGetTheSlotOfOneName)
{
        AUTO_REGION *region = open_region("key");
        pid_t pids[N_CROWD];
        int start[2];

        CHECK_EQ(pipe(start), 0);
        for (int i = 0; i < N_CROWD; i++) {
                pids[i] = test_fork();
                if (pids[i] == 0) {
                        close(start[1]);
                        _exit(be_in_crowd(start[0]));
                }
        }
        close(start[1]);
        for (int i = 0; i < N_CROWD; i++)
                CHECK_EQ(test_wait_for(pids[i]), 0);
        close(start[0]);
}

static _Atomic bool is_posting;

static void *post_all_the_time(void *region)
{
        while (is_posting)
                (void)count_post_of(region, "x");
        return NULL;
}

TEST_NO_BUS(postIsNeverCountedForTheNextNameOfItsSlot)
{
        AUTO_REGION *holder = open_region("key"), *poster = open_region("key");
        char names[DN__SHM_SLOTS_PER_SET + 1][64];

        for (int i = 0; i < DN__SHM_SLOTS_PER_SET; i++)
                name_in_set_of("x", i, names[i]);
        for (int i = 0; i < DN__SHM_SLOTS_PER_SET - 1; i++)
                CHECK(hold(holder, names[i]) != NULL);
        dn__slot_release(holder, find(holder, "x"));
        is_posting = true;
        pthread_t thread = test_start_thread(post_all_the_time, poster);
        for (int i = 0; i < 5000; i++) {
                dn__shm_slot *slot = hold(holder, names[DN__SHM_SLOTS_PER_SET - 1]);
                uint64_t generation = dn__slot_get_generation(slot);

                /* The poster may have found the slot before it passed to the next name. */
                for (int j = 0; j < 100; j++)
                        CHECK_EQ(dn__slot_get_generation(slot), generation);
                dn__slot_release(holder, slot);
                dn__slot_release(holder, hold(holder, "x"));
        }
        is_posting = false;
        pthread_join(thread, NULL);
}

TEST_MAIN()
