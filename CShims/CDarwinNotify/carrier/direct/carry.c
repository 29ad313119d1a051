/* Carries the names of a table that is being left to the next one.
 *
 * A table is left when its file is gone. Its processes come to the next one at different times, and
 * nothing that is posted meanwhile may be lost:
 *
 *   poster                        the first that leaves
 *     P1  count in the old table    L1  mark the old table as left
 *     P2  has it been left?         L2  read the counts there; the next table continues them
 *         then follow
 *
 * If P2 finds no mark, P1 came before L1, so L2 reads a count that includes the post. Otherwise the
 * poster follows into the next table, carries the names too if nobody has yet, and sees whether L2
 * has read its count. If not, it carries that count once more. A process that comes later has been
 * told up to some count of the old table. The count of the next one continues that, so the
 * difference is what it has missed.
 *
 * Where the next table had the name already, its count continues nothing (dn__shm_slot.carried): it
 * grows by one if the name was posted lately, and whoever comes later notifies its observers once
 * more. So does a process that finds that others had left its table for yet another one. */
#include "carrier/direct/carry.h"

#include "carrier/direct/ring.h"
#include "shm/slot.h"
#include "util/hash.h"

static bool has_living_holder(const dn__shm_slot *slot, const uint64_t *living)
{
        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                if (atomic_load(&slot->holders[i]) & living[i])
                        return true;
        return false;
}

static void find_all_living(const dn__region *region, uint64_t ret_living[DN__SHM_HOLDER_WORDS])
{
        uint64_t n_used = atomic_load(&region->table->n_processes_used);

        for (unsigned i = 0; i < n_used && i < DN__SHM_N_PROCESSES; i++)
                if (dn__region_process_is_alive(region, i))
                        ret_living[i / 64] |= UINT64_C(1) << i % 64;
}

static void carry_names(const dn__region *from, dn__region *to)
{
        uint64_t living[DN__SHM_HOLDER_WORDS] = { 0 };
        char text[DN__SLOT_NAME_BYTES];
        dn__name name;

        find_all_living(from, living);
        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++) {
                const dn__shm_slot *slot = &from->table->slots[i];

                dn__shm_slot *carried;

                /* Without a tag there may be no memory behind the slot. */
                if (atomic_load(&from->table->tags[i]) == 0 ||
                    !(has_living_holder(slot, living) || dn__slot_is_fresh(slot)) ||
                    !dn__slot_read_name(from, i, text, &name))
                        continue;
                name.hash = dn__hash64(name.text, name.n_bytes);
                carried = dn__slot_carry(to, &name, from, slot);
                if (carried)
                        dn__ring_holders(to, carried);
        }
}

bool dn__carry(dn__region *from, dn__region *to, bool is_behind)
{
        /* Sequentially consistent, like the counts. */
        uint64_t before = atomic_exchange(&from->table->moved, to->id);

        if (is_behind || atomic_load(&from->table->carried) != to->id) {
                carry_names(from, to);
                atomic_store(&from->table->carried, to->id);
        }
        return before == 0 || before == to->id;
}
