/* The table that the processes of a user share. */
#include "shm/slot.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm.h"
#include "util/hash.h"

static dn__shm_slot *hold(dn__region *region, const char *name)
{
        return dn__slot_hold(region, dn__hash64(name, strlen(name)), name, strlen(name));
}

static dn__shm_slot *find(dn__region *region, const char *name)
{
        return dn__slot_find(region, dn__hash64(name, strlen(name)), name, strlen(name));
}

static ptrdiff_t position(const dn__region *region, const dn__shm_slot *slot)
{
        return slot - region->table->slots;
}

/* A name of the set of "x": its hash differs only where the set does not look. */
static void name_of_set(dn__region *region, const char *like, int number, char ret_name[64])
{
        ptrdiff_t set = position(region, hold(region, like)) / DN__SHM_SLOTS_PER_SET;

        for (int i = 0, n_found = 0; n_found <= number; i++) {
                uint64_t hash;

                snprintf(ret_name, 64, "%s.%d", like, i);
                hash = dn__hash64(ret_name, strlen(ret_name));
                n_found += (ptrdiff_t)dn__shm_set_of(hash) == set;
        }
}

TEST_NO_BUS(oneNameIsOneSlotForAllProcesses)
{
        dn__region *a = open_region("key"), *b = open_region("key");
        dn__shm_slot *of_a = hold(a, "com.example.x"), *of_b = hold(b, "com.example.x");
        uint64_t generation;

        CHECK(a->table != b->table);
        CHECK_EQ(a->table->header.region, b->table->header.region);
        CHECK_EQ(position(a, of_a), position(b, of_b));
        CHECK(position(a, of_a) != position(a, hold(a, "com.example.y")));
        generation = dn__slot_count_post(of_a);
        CHECK_EQ(dn__slot_get_generation(of_b), generation);
        dn__region_close(a);
        dn__region_close(b);
}

TEST_NO_BUS(anotherKeyIsAnotherTable)
{
        dn__region *a = open_region("one bus"), *b = open_region("another bus");

        CHECK(a->table->header.region != b->table->header.region);
        hold(a, "x");
        CHECK(find(b, "x") == NULL);
        dn__region_close(a);
        dn__region_close(b);
}

TEST_NO_BUS(aNameThatNobodyHoldsIsNotFound)
{
        dn__region *region = open_region("key");

        CHECK(find(region, "x") == NULL);
        hold(region, "x");
        CHECK(find(region, "x") != NULL);
        CHECK(find(region, "X") == NULL);
        CHECK(find(region, "x.y") == NULL);
        dn__region_close(region);
}

static uint64_t count_post_of(const dn__region *region, const char *name)
{
        return dn__slot_count_post_of(region, dn__hash64(name, strlen(name)), name, strlen(name));
}

TEST_NO_BUS(onlyANameWithASlotIsCounted)
{
        dn__region *holder = open_region("key"), *poster = open_region("key");
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
        dn__region_close(holder);
        dn__region_close(poster);
}

TEST_NO_BUS(theLongestNamesAreToldApartByTheirLastByte)
{
        dn__region *region = open_region("key");
        char a[512] = { 0 }, b[512] = { 0 };

        memset(a, 'n', 511);
        memset(b, 'n', 511);
        b[510] = 'm';
        CHECK(hold(region, a) != hold(region, b));
        CHECK(find(region, a) != find(region, b));
        dn__region_close(region);
}

TEST_NO_BUS(aFullSetTakesTheSlotOfANameThatNobodyHolds)
{
        dn__region *region = open_region("key");
        dn__shm_slot *slots[DN__SHM_SLOTS_PER_SET] = { hold(region, "x") };
        char name[64];

        for (int i = 1; i < DN__SHM_SLOTS_PER_SET; i++) {
                name_of_set(region, "x", i - 1, name);
                slots[i] = hold(region, name);
                CHECK(slots[i] != NULL);
        }
        name_of_set(region, "x", DN__SHM_SLOTS_PER_SET, name);
        CHECK(hold(region, name) == NULL);
        dn__slot_release(region, slots[5]);
        CHECK(hold(region, name) == slots[5]);
        CHECK(find(region, name) == slots[5]);
        dn__region_close(region);
}

TEST_NO_BUS(whatADeadProcessHeldIsGivenBack)
{
        dn__region *region = open_region("key");
        char name[64];
        int status;
        pid_t pid = test_fork();

        if (pid == 0) {
                dn__region *child = open_region("key");

                for (int i = 0; i < DN__SHM_SLOTS_PER_SET; i++) {
                        name_of_set(child, "x", i, name);
                        hold(child, name);
                }
                raise(SIGKILL);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(hold(region, "x") != NULL);
        name_of_set(region, "x", DN__SHM_SLOTS_PER_SET + 1, name);
        CHECK(hold(region, name) != NULL);
        dn__region_close(region);
}

TEST_NO_BUS(aSetIsTakenOverFromAProcessThatDiedInIt)
{
        dn__region *region = open_region("key");
        size_t set = dn__shm_set_of(dn__hash64("x", 1));

        /* An entry that no process has. */
        region->table->owners[set] = DN__SHM_N_PROCESSES;
        CHECK(hold(region, "x") != NULL);
        /* No entry at all. */
        region->table->owners[set] = UINT64_MAX;
        CHECK(hold(region, "x") != NULL);
        dn__region_close(region);
}

TEST_NO_BUS(aSetThatALiveProcessDoesNotLeaveIsGivenUp)
{
        dn__region *a = open_region("key"), *b = open_region("key");
        size_t set = dn__shm_set_of(dn__hash64("x", 1));

        a->table->owners[set] = a->owner;
        CHECK(hold(b, "x") == NULL);
        a->table->owners[set] = 0;
        CHECK(hold(b, "x") != NULL);
        dn__region_close(a);
        dn__region_close(b);
}

TEST_NO_BUS(aForkedChildDoesNotKeepItsParentAlive)
{
        dn__region *region = open_region("key"), *other = open_region("key");
        int ready[2];
        char byte;
        pid_t pid;

        CHECK_EQ(pipe(ready), 0);
        pid = test_fork();
        if (pid == 0) {
                CHECK_EQ(write(ready[1], "", 1), 1);
                for (;;)
                        pause();
        }
        CHECK_EQ(read(ready[0], &byte, 1), 1);
        CHECK(dn__region_process_is_alive(other, region->process));
        {
                unsigned process = region->process;

                dn__region_close(region);
                CHECK(!dn__region_process_is_alive(other, process));
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        dn__region_close(other);
}

/* Contents that no process of ours would write: anything may come out, but nothing may break. */
TEST_NO_BUS(aTableOfGarbageIsSurvived)
{
        dn__region *region = open_region("key");
        unsigned char *bytes = (unsigned char *)region->table;

        srand(2);
        for (size_t i = DN__SHM_PAGE_BYTES; i < sizeof(dn__shm_table); i++)
                bytes[i] = (unsigned char)rand();
        for (int i = 0; i < 200; i++) {
                char name[32];
                dn__shm_slot *slot;

                snprintf(name, sizeof(name), "name.%d", i);
                find(region, name);
                slot = hold(region, name);
                if (slot)
                        dn__slot_count_post(slot);
                dn__slot_release(region, slot);
        }
        dn__region_close(region);
}

/* In a table that nobody else uses. */
static void check_room_for(const char *prefix, int n)
{
        dn__region *region = open_region(prefix);
        char name[64];

        for (int i = 0; i < n; i++) {
                snprintf(name, sizeof(name), "%s%d", prefix, i);
                if (!hold(region, name))
                        test_fail(__FILE__, __LINE__, "no slot for %s", name);
        }
        dn__region_close(region);
}

TEST_NO_BUS(numberedNamesAllGetASlot)
{
        check_room_for("n", 400);
        check_room_for("com.example.changed.", 100);
        check_room_for("name.", 10000);
}

TEST_MAIN()
