/* The names of a table that living processes hold.
 *
 * A slot may pass to another name while it is read, but not as long as a process holds it: what
 * was read counts if the slot is still that of the name afterwards. */
#include "shm/census.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shm/slot.h"
#include "util/hash.h"
#include "util/utf8.h"

#define NAME_BYTES (DN__SHM_NAME_WORDS * sizeof(uint64_t))

/* How often to read a slot anew that passes to another name meanwhile. */
#define N_ATTEMPTS 8

#define N_FIRST_NAMES 64

/* The entries of living processes. To ask for a life is a system call: once for each, not for
 * each slot. */
typedef struct living {
        unsigned processes[DN__SHM_N_PROCESSES];
        size_t n_processes;
} living;

/* One slot, as it was read. */
typedef struct reading {
        char name[NAME_BYTES + 1];
        size_t n_name_bytes;
        uint64_t generation;
        uint64_t state;
        int32_t pids[DN__SHM_N_PROCESSES];
        size_t n_holders;
} reading;

static void find_living(const dn__region *region, living *ret_living)
{
        uint64_t n_used = atomic_load(&region->table->n_processes_used);

        ret_living->n_processes = 0;
        for (unsigned i = 0; i < n_used && i < DN__SHM_N_PROCESSES; i++)
                if (i != region->process && dn__region_process_is_alive(region, i))
                        ret_living->processes[ret_living->n_processes++] = i;
}

/* Returns false if no name can be like that. */
static bool read_name(const dn__shm_slot *slot, reading *reading)
{
        uint64_t n_bytes = atomic_load_explicit(&slot->n_name_bytes, memory_order_relaxed);

        if (n_bytes == 0 || n_bytes >= NAME_BYTES)
                return false;
        for (size_t i = 0; i < DN__SHM_NAME_WORDS; i++) {
                uint64_t word = atomic_load_explicit(&slot->name[i], memory_order_relaxed);

                memcpy(reading->name + i * sizeof(word), &word, sizeof(word));
        }
        reading->name[n_bytes] = '\0';
        reading->n_name_bytes = n_bytes;
        return strlen(reading->name) == n_bytes && dn__utf8_is_valid(reading->name, n_bytes);
}

/* A process with two centers on one bus has two entries. Whoever is not known is one more. */
static void add_holder(reading *reading, uint64_t found)
{
        int32_t pid = found <= INT32_MAX ? (int32_t)found : 0;

        for (size_t i = 0; pid && i < reading->n_holders; i++)
                if (reading->pids[i] == pid)
                        return;
        reading->pids[reading->n_holders++] = pid;
}

static void read_holders(const dn__shm_table *table, size_t index, const living *living,
                         reading *reading)
{
        uint64_t bit = UINT64_C(1) << index % 64;

        reading->n_holders = 0;
        for (size_t i = 0; i < living->n_processes; i++) {
                unsigned process = living->processes[i];

                if (atomic_load(&table->holders[process][index / 64]) & bit)
                        add_holder(reading, atomic_load(&table->pids[process]));
        }
}

/* Returns whether somebody holds the slot, under a name that it is found by. */
static bool read_slot(const dn__region *region, size_t index, const living *living,
                      reading *reading)
{
        dn__shm_slot *slot = &region->table->slots[index];
        uint64_t hash;

        for (int i = 0; i < N_ATTEMPTS; i++) {
                /* Without a tag there may be no memory behind the slot. */
                if (atomic_load(&region->table->tags[index]) == 0)
                        return false;
                read_holders(region->table, index, living, reading);
                if (reading->n_holders == 0)
                        return false;
                if (!read_name(slot, reading))
                        continue;
                reading->generation = dn__slot_get_generation(slot);
                reading->state = atomic_load(&slot->state);
                hash = dn__hash64(reading->name, reading->n_name_bytes);
                if (dn__slot_find(region, hash, reading->name, reading->n_name_bytes) == slot)
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
        pids = malloc(n_pids_bytes + reading->n_name_bytes + 1);
        if (!pids)
                return -ENOMEM;
        name = (char *)pids + n_pids_bytes;
        memcpy(pids, reading->pids, n_pids_bytes);
        memcpy(name, reading->name, reading->n_name_bytes + 1);
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
        /* strcmp() compares as unsigned bytes. */
        return strcmp(((const dn__census_name *)a)->name, ((const dn__census_name *)b)->name);
}

/* While the table is walked a name may be given up and come back in another slot of its set. */
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
        for (size_t i = 0; living.n_processes > 0 && i < DN__SHM_N_SLOTS; i++) {
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
                free(census->names[i].pids); /* the name is behind them */
        free(census->names);
        *census = (dn__census){ 0 };
}
