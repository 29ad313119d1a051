/* Lists the names in a table that living processes hold.
 *
 * A slot may pass to another name while it is being read, unless a process holds it: a reading is
 * valid if the slot still has the name afterwards. */
#include "darwinnotify/inspect.h"

#include <errno.h>

#include "bus/address.h"
#include "table/slot.h"
#include "util/cleanup.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/hash.h"
#include "util/text.h"

/* The entries of living processes, one bit each: checking one takes a system call. */
typedef struct living {
        uint64_t processes[DN__SHM_HOLDER_WORDS];
        uint64_t own_pid;
} living;

static living find_living(const dn__region *region)
{
        uint64_t n_used = atomic_load(&region->table->n_processes_used);
        living living = { .own_pid = dn__region_own_pid() };

        for (unsigned i = 0; i < n_used && i < DN__SHM_N_PROCESSES; i++)
                if (dn__region_process_is_alive(region, i))
                        living.processes[i / 64] |= UINT64_C(1) << i % 64;
        return living;
}

/* A process with two centers on one bus has two entries. An unidentified process counts
 * separately, as does one of another PID namespace. */
static void note_holder(const dn__shm_process *process, uint64_t own_pid, int32_t *pids, size_t *n)
{
        uint64_t found = atomic_load(&process->pid);
        bool is_ours = found >> 32 == own_pid >> 32 && !(found & UINT64_C(1) << 31);
        int32_t pid = is_ours ? (int32_t)found : 0;

        for (size_t i = 0; pid && i < *n; i++)
                if (pids[i] == pid)
                        return;
        pids[(*n)++] = pid;
}

static size_t read_holders(const dn__shm_table *table, const dn__shm_slot *slot,
                           const living *living, int32_t *pids)
{
        size_t n = 0;

        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++) {
                uint64_t holders = atomic_load(&slot->holders[i]) & living->processes[i];

                for (; holders; holders &= holders - 1)
                        note_holder(&table->processes[i * 64 + (unsigned)__builtin_ctzll(holders)],
                                    living->own_pid, pids, &n);
        }
        return n;
}

/* Returns whether the slot is held and can be found by its name. */
static bool read_slot(const dn__region *region, size_t index, const living *living, char *text,
                      int32_t *pids, dn_name_record *ret_record)
{
        dn__shm_slot *slot = &region->table->slots[index];
        dn__name name;

        if (!dn__slot_read_name(region, index, text, &name) ||
            !dn__utf8_is_valid(name.text, name.n_bytes))
                return false;
        *ret_record = (dn_name_record){
                .name = text,
                .generation = dn__slot_get_generation(slot),
                .state = atomic_load(&slot->state),
                .n_holders = read_holders(region->table, slot, living, pids),
                .pids = pids,
        };
        name.hash = dn__hash64(name.text, name.n_bytes);
        return ret_record->n_holders > 0 && dn__slot_find(region, &name) == slot;
}

typedef struct listing {
        int (*each)(const dn_name_record *record, void *context);
        void *context;
        dn_name_record record;
        int r;
} listing;

static void run_each(void *context)
{
        listing *listing = context;

        listing->r = listing->each(&listing->record, listing->context);
}

/* Scans all slots without a lock: each name is as it was at some moment during the scan. Slots that
 * this library would not write are skipped. Returns what the callback returned last, or 0. */
static int scan(const dn__region *region, const listing *wanted)
{
        living living = find_living(region);
        int32_t pids[DN__SHM_N_PROCESSES];
        char text[DN__SLOT_NAME_BYTES];
        listing listing = *wanted; /* its record refers to the local arrays */

        for (size_t i = 0;
             (i = dn__shm_next_named(region->table, i)) < DN__SHM_N_SLOTS && listing.r == 0; i++)
                if (read_slot(region, i, &living, text, pids, &listing.record))
                        dn__host_call(run_each, &listing);
        return listing.r;
}

/* Uses the table only if there is one. */
int dn_list_names(const char *bus, int (*each)(const dn_name_record *record, void *context),
                  void *context)
{
        DN__GATE();
        dn__address address DN__CLEANUP(dn__address_deinit) = { 0 };
        listing listing = { .each = each, .context = context };
        dn__region *region;
        int r;

        if (!each || (bus && !*bus))
                return -EINVAL;
        r = dn__address_resolve(bus, &address);
        if (r < 0)
                return r;
        r = dn__region_find(address.scope, NULL, false, &region);
        if (r == -ENOENT && dn__file_has_directory(address.scope))
                return 0;
        if (r < 0)
                return r == -ENOMEM ? r : -EACCES;
        r = scan(region, &listing);
        (void)dn__region_close(region);
        return r < 0 ? -EINVAL : r;
}
