/* Lists the names in a table that living processes hold.
 *
 * A slot may pass to another name while it is being read, unless a process holds it: a reading is
 * valid if the slot still has the name afterwards. */
#include "table/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/slot.h"
#include "util/hash.h"
#include "util/text.h"

/* The entries of living processes, one bit each: to check one takes a system call. */
typedef struct living {
        uint64_t processes[DN__SHM_HOLDER_WORDS];
} living;

static living find_living(const dn__region *region)
{
        uint64_t n_used = atomic_load(&region->table->n_processes_used);
        living living = { 0 };

        for (unsigned i = 0; i < n_used && i < DN__SHM_N_PROCESSES; i++)
                if (i != region->process && dn__region_process_is_alive(region, i))
                        living.processes[i / 64] |= UINT64_C(1) << i % 64;
        return living;
}

/* A process with two centers on one bus has two entries. An unidentified process counts
 * separately. */
static void note_holder(dn__census_name *name, const dn__shm_table *table, unsigned process)
{
        uint64_t found = atomic_load(&table->processes[process].pid);
        int32_t pid = found <= INT32_MAX ? (int32_t)found : 0;

        for (size_t i = 0; pid && i < name->n_holders; i++)
                if (name->pids[i] == pid)
                        return;
        name->pids[name->n_holders++] = pid;
}

static void read_holders(const dn__shm_table *table, const dn__shm_slot *slot,
                         const living *living, dn__census_name *name)
{
        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++) {
                uint64_t holders = atomic_load(&slot->holders[i]) & living->processes[i];

                for (; holders; holders &= holders - 1)
                        note_holder(name, table, i * 64 + (unsigned)__builtin_ctzll(holders));
        }
}

/* Returns whether the slot is held and can be found by its name. */
static bool read_slot(const dn__region *region, size_t index, const living *living, char *text,
                      dn__census_name *ret_name)
{
        dn__shm_slot *slot = &region->table->slots[index];
        dn__name name;

        if (!dn__slot_read_name(region, index, text, &name) ||
            !dn__utf8_is_valid(name.text, name.n_bytes))
                return false;
        ret_name->n_holders = 0;
        read_holders(region->table, slot, living, ret_name);
        ret_name->generation = dn__slot_get_generation(slot);
        ret_name->state = atomic_load(&slot->state);
        return ret_name->n_holders > 0 &&
               dn__slot_find(region, dn__hash64(name.text, name.n_bytes), name.text,
                             name.n_bytes) == slot;
}

/* Adds a copy, whose name is stored after its process IDs. */
static int add(dn__census *census, dn__census_name name)
{
        size_t n = census->n_names, pids_bytes = name.n_holders * sizeof(*name.pids);
        size_t name_bytes = strlen(name.name) + 1;
        int32_t *pids = malloc(pids_bytes + name_bytes);
        dn__census_name *names = census->names;

        /* It has room for a power of two. */
        if (pids && (n & (n - 1)) == 0)
                names = realloc(names, (n ? 2 * n : 1) * sizeof(*names));
        if (!pids || !names) {
                free(pids);
                return -ENOMEM;
        }
        memcpy(pids, name.pids, pids_bytes);
        name.pids = pids;
        name.name = memcpy((char *)pids + pids_bytes, name.name, name_bytes);
        census->names = names;
        census->names[census->n_names++] = name;
        return 0;
}

static int compare(const void *a, const void *b)
{
        /* strcmp() compares bytes as unsigned. */
        return strcmp(((const dn__census_name *)a)->name, ((const dn__census_name *)b)->name);
}

/* During the scan a name may be released and reappear in another slot of its set. */
static void sort(dn__census *census)
{
        size_t n = 0;

        if (census->n_names > 0)
                qsort(census->names, census->n_names, sizeof(census->names[0]), compare);
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
        living living = find_living(region);
        int32_t pids[DN__SHM_N_PROCESSES];
        char text[DN__SLOT_NAME_BYTES];
        dn__census census = { 0 };

        for (size_t i = 0; (i = dn__shm_next_named(region->table, i)) < DN__SHM_N_SLOTS; i++) {
                dn__census_name name = { .name = text, .pids = pids };

                if (!read_slot(region, i, &living, text, &name) || add(&census, name) == 0)
                        continue;
                dn__census_deinit(&census);
                return -ENOMEM;
        }
        sort(&census);
        *ret_census = census;
        return 0;
}

void dn__census_deinit(dn__census *census)
{
        for (size_t i = 0; i < census->n_names; i++)
                free(census->names[i].pids);
        free(census->names);
        *census = (dn__census){ 0 };
}
