/* The slot of a name in the shared table.
 *
 * Reading takes no lock. Only one process at a time changes a set, after writing its entry into the
 * set's owner word by compare-and-swap; if it dies, the next process takes the set over. A slot has
 * a name when its tag is not 0: the tag is cleared before the name changes and set afterwards, so a
 * process stopped at any instruction leaves a slot that is either free or complete.
 *
 * Slots are not freed when nobody holds them: the next name that needs room in their set reuses
 * them. Only then is it checked whether their holders are alive, because each check is a system
 * call. */
#include "table/slot.h"

#include <stdbool.h>
#include <string.h>

#include "util/hash.h"

/* How often to look whether the process that is changing a set has finished, and whether it is
 * alive. A change takes a microsecond, or a few milliseconds if many processes compete for a
 * CPU. */
#define PAUSE_US 100
#define LIFE_CHECK_US (10 * DN__US_PER_MS)

/* How often to look for room: each time, another name took the slot found. */
#define N_ATTEMPTS 64

/* Returns a word of a name. Unused bytes are zero. */
static uint64_t word_of(const dn__name *name, size_t i)
{
        size_t at = i * sizeof(uint64_t);
        uint64_t word = 0;

        if (at + sizeof(word) <= name->n_bytes)
                memcpy(&word, name->text + at, sizeof(word)); /* by one instruction */
        else if (at < name->n_bytes)
                memcpy(&word, name->text + at, name->n_bytes - at);
        return word;
}

static size_t index_of(const dn__region *region, const dn__shm_slot *slot)
{
        return (size_t)(slot - region->table->slots);
}

static bool is_slot_of(const dn__region *region, const dn__shm_slot *slot, const dn__name *name)
{
        const dn__shm_table *table = region->table;
        const _Atomic uint64_t *tag = &table->tags[slot - table->slots];

        if (atomic_load(tag) != dn__hash_to_tag(name->hash) ||
            atomic_load(&slot->n_name_bytes) != name->n_bytes)
                return false;
        for (size_t i = 0; i * sizeof(uint64_t) < name->n_bytes; i++)
                if (atomic_load(&slot->name[i]) != word_of(name, i))
                        return false;
        return true;
}

dn__shm_slot *dn__slot_find(const dn__region *region, const dn__name *name)
{
        size_t set = dn__shm_set_of(name->hash), first = set * DN__SHM_SLOTS_PER_SET;
        dn__shm_table *table = region->table;

        if (!dn__shm_set_is_named(table, set))
                return NULL;
        for (size_t i = first; i < first + DN__SHM_SLOTS_PER_SET; i++)
                if (is_slot_of(region, &table->slots[i], name))
                        return &table->slots[i];
        return NULL;
}

uint64_t dn__slot_count_for_others(const dn__region *region, dn__shm_slot *slot,
                                   const dn__name *name)
{
        uint64_t generation;

        dn__slot_note_time(slot);
        generation = atomic_load(&slot->generation);
        /* A slot's count increases when it passes to another name: so it had this name from the
         * reading of the generation until the increment. */
        do {
                if (!is_slot_of(region, slot, name))
                        return 0;
        } while (!atomic_compare_exchange_weak(&slot->generation, &generation, generation + 1));
        return generation + 1;
}

bool dn__slot_read_name(const dn__region *region, size_t index, char ret_text[DN__SLOT_NAME_BYTES],
                        dn__name *ret_name)
{
        const dn__shm_slot *slot = &region->table->slots[index];
        uint64_t hash = atomic_load(&region->table->tags[index]), n_bytes;

        /* Without a tag there may be no memory behind the slot. */
        if (hash == 0)
                return false;
        n_bytes = atomic_load(&slot->n_name_bytes);
        if (n_bytes == 0 || n_bytes >= DN__SLOT_NAME_BYTES - 1)
                return false;
        for (size_t i = 0; i <= n_bytes / 8; i++) {
                uint64_t word = atomic_load(&slot->name[i]);

                memcpy(ret_text + i * sizeof(word), &word, sizeof(word));
        }
        ret_text[n_bytes] = '\0';
        *ret_name = (dn__name){
                .text = ret_text,
                .n_bytes = n_bytes,
                .hash = hash,
                .reach = DN__REACH_BEYOND,
        };
        return strlen(ret_text) == n_bytes;
}

/* --- Changing a set ------------------------------------------------------------------------ */

static bool owner_is_alive(const dn__region *region, uint64_t owner)
{
        unsigned process = dn__shm_owner_process(owner);

        return process < DN__SHM_N_PROCESSES && dn__region_process_is_alive(region, process);
}

/* A live owner that takes until the deadline must have been stopped during the change. */
static bool set_acquire(dn__region *region, size_t set, uint64_t deadline_us)
{
        _Atomic uint64_t *owner = &region->table->owners[set];
        uint64_t check_us = 0;

        for (;;) {
                uint64_t found = 0, now_us;

                if (atomic_compare_exchange_strong(owner, &found, region->owner))
                        return true;
                now_us = dn__clock_now_us();
                if (now_us >= check_us) {
                        check_us = now_us + LIFE_CHECK_US;
                        if (!owner_is_alive(region, found) &&
                            atomic_compare_exchange_strong(owner, &found, region->owner))
                                return true;
                }
                if (now_us >= deadline_us)
                        return false;
                dn__clock_sleep_until(now_us + PAUSE_US);
        }
}

static void set_release(dn__region *region, size_t set)
{
        uint64_t ours = region->owner;

        (void)atomic_compare_exchange_strong(&region->table->owners[set], &ours, 0);
}

/* --- Holders ------------------------------------------------------------------------------- */

/* A process that takes a dead one's entry clears its bits before it counts as alive: so a bit that
 * is still set was set by the process that is alive. */
static bool is_holder(const dn__region *region, const dn__shm_slot *slot, unsigned process)
{
        return dn__region_process_is_alive(region, process) &&
               atomic_load(&slot->holders[process / 64]) & UINT64_C(1) << process % 64;
}

static bool slot_is_held(const dn__region *region, const dn__shm_slot *slot)
{
        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++) {
                uint64_t holders = atomic_load(&slot->holders[i]);

                for (; holders; holders &= holders - 1)
                        if (is_holder(region, slot, i * 64 + (unsigned)__builtin_ctzll(holders)))
                                return true;
        }
        return false;
}

/* --- Allocation ---------------------------------------------------------------------------- */

static bool slot_is_free(const dn__region *region, const dn__shm_slot *slot)
{
        return atomic_load(&region->table->tags[index_of(region, slot)]) == 0 ||
               !slot_is_held(region, slot);
}

/* Finds room in the set, whose tags must have memory: preferably a slot that was never used,
 * otherwise one whose name nobody holds. */
static dn__shm_slot *find_room(const dn__region *region, size_t set)
{
        size_t first = set * DN__SHM_SLOTS_PER_SET, end = first + DN__SHM_SLOTS_PER_SET;

        for (size_t i = first; i < end; i++)
                if (atomic_load(&region->table->tags[i]) == 0)
                        return &region->table->slots[i];
        for (size_t i = first; i < end; i++)
                if (slot_is_free(region, &region->table->slots[i]))
                        return &region->table->slots[i];
        return NULL;
}

/* Returns NULL if there is no room, or no memory for it. */
static dn__shm_slot *reserve_room(const dn__region *region, size_t set)
{
        _Atomic uint64_t *tags = &region->table->tags[set * DN__SHM_SLOTS_PER_SET];
        dn__shm_slot *room;

        if (dn__region_reserve(region, tags, DN__SHM_SLOTS_PER_SET * sizeof(*tags)) < 0)
                return NULL;
        room = find_room(region, set);
        if (!room || dn__region_reserve(region, room, sizeof(*room)) < 0)
                return NULL;
        return room;
}

/* The slot must be free and have memory. */
static void slot_set_name(dn__region *region, dn__shm_slot *slot, const dn__name *name)
{
        _Atomic uint64_t *tag = &region->table->tags[index_of(region, slot)];
        size_t set = index_of(region, slot) / DN__SHM_SLOTS_PER_SET;

        (void)atomic_fetch_or(&region->table->named_sets[set / 64], UINT64_C(1) << set % 64);
        atomic_store(tag, 0);
        for (size_t i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                atomic_store(&slot->holders[i], 0);
        for (size_t i = 0; i < DN__SHM_NAME_WORDS; i++)
                atomic_store(&slot->name[i], word_of(name, i));
        atomic_store(&slot->n_name_bytes, name->n_bytes);
        /* The count continues from the previous name's: only 0 means "not counted". */
        atomic_store(&slot->named, dn__slot_count_post(slot));
        atomic_store(&slot->state, 0);
        atomic_store(tag, dn__hash_to_tag(name->hash));
}

/* The state ended with the last process that held the name. */
static void settle_state(const dn__region *region, dn__shm_slot *slot)
{
        if (atomic_load(&slot->state) && !slot_is_held(region, slot))
                atomic_store(&slot->state, 0);
}

/* In a set that we own, takes the name's slot, or else names and takes `room`. Returns NULL if
 * neither is available any more. */
static dn__shm_slot *use_in_set(dn__region *region, const dn__name *name, dn__shm_slot *room)
{
        dn__shm_slot *slot = dn__slot_find(region, name);
        unsigned process = atomic_load(&region->process);

        if (slot) {
                settle_state(region, slot);
        } else if (room && slot_is_free(region, room)) {
                slot = room;
                slot_set_name(region, slot, name);
        }
        if (slot)
                (void)atomic_fetch_or(&slot->holders[process / 64], UINT64_C(1) << process % 64);
        return slot;
}

dn__shm_slot *dn__slot_hold(dn__region *region, const dn__name *name, uint64_t deadline_us)
{
        size_t set = dn__shm_set_of(name->hash);

        for (int i = 0; i < N_ATTEMPTS; i++) {
                dn__shm_slot *room = NULL, *slot;

                /* Does the slow part before other processes have to wait for it. */
                if (!dn__slot_find(region, name)) {
                        room = reserve_room(region, set);
                        if (!room)
                                return NULL;
                }
                if (!set_acquire(region, set, deadline_us))
                        return NULL;
                slot = use_in_set(region, name, room);
                set_release(region, set);
                if (slot)
                        return slot;
        }
        return NULL;
}

void dn__slot_release(dn__region *region, dn__shm_slot *slot)
{
        unsigned process = atomic_load(&region->process);

        if (slot)
                (void)atomic_fetch_and(&slot->holders[process / 64],
                                       ~(UINT64_C(1) << process % 64));
}
