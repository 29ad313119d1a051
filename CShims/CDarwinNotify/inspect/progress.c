/* Remembers how far the posts of each name in a table were reported. */
#include "inspect/progress.h"

#include <string.h>

#include "shm/slot.h"

void dn__progress_begin(dn__progress *progress, const dn__region *region)
{
        const dn__shm_table *table = region->table;

        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++) {
                /* Read before the generation: a slot counts up when it passes to another name. */
                uint64_t tag = atomic_load(&table->tags[i]), generation;

                if (tag == 0)
                        continue;
                generation = dn__slot_get_generation(&table->slots[i]);
                progress->slots[i] = (dn__reported){ tag, 0, generation };
        }
}

/* Returns whether the slot continues the count of the previous table. The count may have gone
 * through a table in between, which was gone before this process saw it. */
static bool continues(const dn__shm_slot *slot, const dn__reported *before)
{
        return atomic_load(&slot->carried) != 0 &&
               atomic_load(&slot->carried_count) >= before->last;
}

/* A name is in the same set of both tables, but may have different slots. */
static dn__reported *find_before(dn__progress *progress, size_t slot_index, uint64_t tag)
{
        dn__reported *set = &progress->before[slot_index - slot_index % DN__SHM_SLOTS_PER_SET];

        for (size_t i = 0; i < DN__SHM_SLOTS_PER_SET; i++)
                if (set[i].tag == tag)
                        return &set[i];
        return NULL;
}

/* When a slot passes to another name, everything counted since then is new. */
dn__reported *dn__progress_get(dn__progress *progress, const dn__region *region, size_t slot_index)
{
        const dn__shm_slot *slot = &region->table->slots[slot_index];
        dn__reported *reported = &progress->slots[slot_index], *before;
        uint64_t tag = atomic_load(&region->table->tags[slot_index]), named;

        if (reported->tag == tag)
                return reported;
        named = atomic_load_explicit(&slot->named, memory_order_relaxed);
        *reported = (dn__reported){ tag, 0, named };
        before = find_before(progress, slot_index, tag);
        if (before && continues(slot, before))
                *reported = *before;
        if (before)
                *before = (dn__reported){ 0 };
        return reported;
}

/* --- The next table --------------------------------------------------------------------------- */

/* Returns whether the name of a slot has, or may get, a slot in the next table that continues its
 * count. */
static bool will_continue(dn__progress *progress, const dn__region *from, const dn__region *to,
                          bool has_all, size_t slot_index)
{
        char text[DN__SLOT_NAME_BYTES];
        const dn__shm_slot *slot;
        dn__name name;

        if (!dn__slot_read_name(from, slot_index, text, &name))
                return false;
        slot = dn__slot_find(to, name.hash, text, name.n_bytes);
        return slot ? continues(slot, dn__progress_get(progress, from, slot_index)) : !has_all;
}

void dn__progress_move(dn__progress *progress, const dn__region *from, const dn__region *to,
                       bool has_all, void (*look)(void *context, size_t slot_index), void *context)
{
        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++) {
                if (atomic_load(&from->table->tags[i]) == 0)
                        continue;
                if (look && !will_continue(progress, from, to, has_all, i))
                        look(context, i);
                progress->before[i] = *dn__progress_get(progress, from, i);
        }
        memset(progress->slots, 0, sizeof(progress->slots));
}
