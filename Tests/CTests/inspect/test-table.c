/* Listing a table that other processes have damaged or are changing. */
#include <pthread.h>
#include <unistd.h>

#include "listing.h"

static size_t index_of(const dn__region *region, const dn__shm_slot *slot)
{
        return (size_t)(slot - region->table->slots);
}

/* Checks that only the one valid name is listed. */
static void check_honest_alone(void)
{
        listing *list = list_now(NOWHERE);

        CHECK_EQ(list->n_names, 1);
        CHECK_STREQ(list->names[0].name, "honest");
}

/* Holds a slot in the set that the bytes belong to. */
static dn__shm_slot *hold_in_set_of(dn__region *region, const char *bytes, size_t n_bytes)
{
        size_t set = dn__shm_set_of(dn__hash64(bytes, n_bytes));

        for (int i = 0;; i++) {
                const char *name = FORMAT("like.%d", i);
                if (set_of(name) == set)
                        return hold(region, name);
        }
}

/* Writes bytes into the table as if they were a name, in their slot and with their tag. */
static void plant(dn__region *region, const char *bytes, size_t n_bytes)
{
        dn__shm_slot *slot = hold_in_set_of(region, bytes, n_bytes);
        char words[sizeof slot->name + 1] = "";

        memcpy(words, bytes, n_bytes);
        memcpy((void *)slot->name, words, sizeof slot->name);
        slot->n_name_bytes = n_bytes;
        region->table->tags[index_of(region, slot)] = dn__hash64(bytes, n_bytes);
}

TEST_NO_BUS(invalidNamesAreNotListed)
{
        static const struct {
                const char *bytes;
                size_t n_bytes;
        } bad[] = {{"", 0}, {"nul\0nul", 7}, {"\0", 1}, {"\xff", 1}, {"cut off\xc3", 8},
                   {"\xed\xa0\x80", 3}, {"\xef\xbf\xbf", 3}, {"over\xc0\x80", 6}};
        AUTO_REGION *region = open_region(NOWHERE);
        char long_name[sizeof((dn__shm_slot *)NULL)->name + 1];

        hold(region, "honest");
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                plant(region, bad[i].bytes, bad[i].n_bytes);
                check_honest_alone();
        }
        memset(long_name, 'n', sizeof long_name);
        plant(region, long_name, sizeof long_name - 1);
        check_honest_alone();
        plant(region, "fine", 4);
        CHECK_EQ(list_now(NOWHERE)->n_names, 2);
}

TEST_NO_BUS(inconsistentSlotsAreNotListed)
{
        static const uint64_t lengths[] = {0, 7, 9, 512, 513, UINT64_MAX};
        AUTO_REGION *region = open_region(NOWHERE);
        dn__shm_slot *slot;

        hold(region, "honest");
        slot = hold(region, "tampered");
        CHECK_EQ(list_now(NOWHERE)->n_names, 2);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                slot->n_name_bytes = lengths[i];
                check_honest_alone();
        }
        slot->n_name_bytes = 8;
        slot->name[0] ^= 1;
        check_honest_alone();
        slot->name[0] ^= 1;
        region->table->tags[index_of(region, slot)] ^= 1;
        check_honest_alone();
        region->table->tags[index_of(region, slot)] = 0;
        check_honest_alone();
        region->table->tags[index_of(region, slot)] = dn__hash64("tampered", 8);
        CHECK_EQ(list_now(NOWHERE)->n_names, 2);
}

TEST_NO_BUS(invalidNumbersAreHarmless)
{
        AUTO_REGION *region = open_region(NOWHERE);
        dn__shm_table *table = region->table;
        uint64_t ours = dn__region_own_pid(), of_other_namespace = ours ^ UINT64_C(1) << 32;
        const uint64_t pids[] = {0, 1, of_other_namespace, ours | UINT64_C(1) << 31, UINT64_MAX};

        hold(region, "honest");
        for (size_t i = 0; i < sizeof pids / sizeof *pids; i++) {
                table->processes[region->process].pid = pids[i];
                CHECK_EQ(list_now(NOWHERE)->names[0].n_holders, 1);
                CHECK_EQ(list_now(NOWHERE)->names[0].pids[0], 0);
        }
        table->n_processes_used = DN__SHM_N_PROCESSES;
        check_honest_alone();
        memset((void *)table->slots[0].holders, 0xff, sizeof table->slots[0].holders);
        check_honest_alone();
        memset((void *)table->owners, 0xff, sizeof table->owners);
        check_honest_alone();
        table->n_processes_used = UINT64_MAX; /* nobody would enter such a table */
        CHECK_EQ(list_now(NOWHERE)->n_names, 0);
}

TEST_NO_BUS(aNameInTwoSlotsIsListedOnce)
{
        AUTO_REGION *region = open_region(NOWHERE);
        size_t index = index_of(region, hold(region, "honest"));
        size_t other = index ^ 1; /* in the same set */

        memcpy((void *)&region->table->slots[other], (void *)&region->table->slots[index],
               sizeof(dn__shm_slot));
        region->table->tags[other] = region->table->tags[index];
        check_honest_alone();
}

static _Atomic bool is_churning;

/* Repeatedly gives slots of one set to more names than it has room for. */
static void *churn(void *argument)
{
        dn__region *region = argument;
        char names[24][64];
        size_t n_names = 0;

        for (int i = 0; n_names < 24; i++) {
                char *name = names[n_names];
                snprintf(name, 64, "churn.%.*s%d", i % 40,
                         "........................................", i);
                n_names += set_of(name) == set_of("always");
        }
        for (size_t i = 0; is_churning; i++)
                dn__slot_release(region, hold(region, names[i % 24]));
        return NULL;
}

TEST_NO_BUS(namesThatComeAndGoAreListedCompletelyOrNotAtAll)
{
        AUTO_REGION *steady = open_region(NOWHERE), *churning = open_region(NOWHERE);

        hold(steady, "always");
        is_churning = true;
        pthread_t thread = test_start_thread(churn, churning);
        for (int i = 0; i < 100; i++) {
                listing *list = list_now(NOWHERE);
                CHECK_STREQ(list->names[0].name, "always");
                for (size_t j = 1; j < list->n_names; j++) {
                        const char *name = list->names[j].name;
                        CHECK(strncmp(name, "churn.", 6) == 0);
                        CHECK_EQ(set_of(name), set_of("always"));
                        CHECK_EQ(list->names[j].pids[0], getpid());
                }
        }
        is_churning = false;
        pthread_join(thread, NULL);
}

TEST_MAIN()
