/* Lists the names in a table that living processes hold.
 *
 * A slot may pass to another name while it is being read, unless a process holds it: a reading is
 * valid if the slot still has the name afterwards. */
#include "shm/census.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shm/slot.h"
#include "util/hash.h"
#include "util/utf8.h"

/* How often to reread a slot that passes to another name meanwhile. */
#define N_ATTEMPTS 8

#define N_FIRST_NAMES 64

/* The entries of living processes, one bit each. Checking a process takes a system call: done once
 * per process, not per slot. */
typedef struct living {
        uint64_t processes[DN__SHM_HOLDER_WORDS];
} living;

/* A snapshot of one slot. */
typedef struct reading {
        char text[DN__SLOT_NAME_BYTES];
        dn__name name;
        uint64_t generation;
        uint64_t state;
        int32_t pids[DN__SHM_N_PROCESSES];
        size_t n_holders;
} reading;

static void find_living(const dn__region *region, living *ret_living)
{
        uint64_t n_used = atomic_load(&region->table->n_processes_used);

        *ret_living = (living){ 0 };
        for (unsigned i = 0; i < n_used && i < DN__SHM_N_PROCESSES; i++)
                if (i != region->process && dn__region_process_is_alive(region, i))
                        ret_living->processes[i / 64] |= UINT64_C(1) << i % 64;
}

/* A process with two centers on one bus has two entries. An unidentified process counts
 * separately. */
static void note_holder(reading *reading, const dn__shm_table *table, unsigned process)
{
        uint64_t found = atomic_load(&table->processes[process].pid);
        int32_t pid = found <= INT32_MAX ? (int32_t)found : 0;

        for (size_t i = 0; pid && i < reading->n_holders; i++)
                if (reading->pids[i] == pid)
                        return;
        reading->pids[reading->n_holders++] = pid;
}

static void read_holders(const dn__shm_table *table, size_t index, const living *living,
                         reading *reading)
{
        const dn__shm_slot *slot = &table->slots[index];

        reading->n_holders = 0;
        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++) {
                uint64_t holders = atomic_load(&slot->holders[i]) & living->processes[i];

                for (; holders; holders &= holders - 1)
                        note_holder(reading, table, i * 64 + (unsigned)__builtin_ctzll(holders));
        }
}

/* Returns whether the slot is held and can be found by its name. */
static bool read_slot(const dn__region *region, size_t index, const living *living,
                      reading *reading)
{
        dn__shm_slot *slot = &region->table->slots[index];
        dn__name *name = &reading->name;

        for (int i = 0; i < N_ATTEMPTS; i++) {
                /* A slot without a tag may have no memory behind it. */
                if (atomic_load(&region->table->tags[index]) == 0)
                        return false;
                read_holders(region->table, index, living, reading);
                if (reading->n_holders == 0)
                        return false;
                if (!dn__slot_read_name(region, index, reading->text, name) ||
                    !dn__utf8_is_valid(name->text, name->n_bytes))
                        continue;
                reading->generation = dn__slot_get_generation(slot);
                reading->state = atomic_load(&slot->state);
                name->hash = dn__hash64(name->text, name->n_bytes);
                if (dn__slot_find(region, name->hash, name->text, name->n_bytes) == slot)
                        return true;
        }
        return false;
}

static int make_room(dn__census *census)
{
        size_t n = census->n_allocated ? 2 * census->n_allocated : N_FIRST_NAMES;
        dn__census_name *names;

        if (census->n_names < census->n_allocated)
                return 0;
        names = realloc(census->names, n * sizeof(*names));
        if (!names)
                return -ENOMEM;
        census->names = names;
        census->n_allocated = n;
        return 0;
}

static int add(dn__census *census, const reading *reading)
{
        size_t n_pids_bytes = reading->n_holders * sizeof(reading->pids[0]);
        int32_t *pids;
        char *name;

        if (make_room(census) < 0)
                return -ENOMEM;
        pids = malloc(n_pids_bytes + reading->name.n_bytes + 1);
        if (!pids)
                return -ENOMEM;
        name = (char *)pids + n_pids_bytes;
        memcpy(pids, reading->pids, n_pids_bytes);
        memcpy(name, reading->text, reading->name.n_bytes + 1);
        census->names[census->n_names++] = (dn__census_name){
                .name = name,
                .generation = reading->generation,
                .state = reading->state,
                .n_holders = reading->n_holders,
                .pids = pids,
        };
        return 0;
}

static int compare(const void *a, const void *b)
{
        /* strcmp() compares bytes as unsigned. */
        return strcmp(((const dn__census_name *)a)->name, ((const dn__census_name *)b)->name);
}

/* During the scan a name may be released and reappear in another slot of its set. */
static void drop_repeated(dn__census *census)
{
        size_t n = 0;

        for (size_t i = 0; i < census->n_names; i++) {
                if (n > 0 && compare(&census->names[n - 1], &census->names[i]) == 0)
                        free(census->names[i].pids);
                else
                        census->names[n++] = census->names[i];
        }
        census->n_names = n;
}

int dn__census_take(const dn__region *region, dn__census *ret_census)
{
        dn__census census = { 0 };
        reading reading;
        living living;

        find_living(region, &living);
        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++) {
                if (!read_slot(region, i, &living, &reading))
                        continue;
                if (add(&census, &reading) < 0) {
                        dn__census_deinit(&census);
                        return -ENOMEM;
                }
        }
        if (census.n_names > 0)
                qsort(census.names, census.n_names, sizeof(census.names[0]), compare);
        drop_repeated(&census);
        *ret_census = census;
        return 0;
}

void dn__census_deinit(dn__census *census)
{
        for (size_t i = 0; i < census->n_names; i++)
                free(census->names[i].pids); /* the name is stored after them */
        free(census->names);
        *census = (dn__census){ 0 };
}
