/* The slot of a name in the shared table: found, held, counted up.
 *
 * Reading takes no lock. A set is changed by one process at a time, which writes its entry into
 * the set's owner word by compare-and-swap; if it dies there, the next one takes the set over. A
 * slot has a name when its tag is not 0: the tag is cleared before the name changes and written
 * after it, so that a process may stop after any instruction and leave a slot that is free, or
 * one that is whole.
 *
 * Slots are not given back when nobody holds them: they are taken by the next name that needs
 * room in their set. Whether somebody holds one is asked only then, because it means to look at
 * the entry of every process, and at its lock. */
#include "shm/slot.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "shm/file.h"
#include "util/clock.h"

/* How long to wait for another process that is changing the set. It needs a microsecond; one
 * that was stopped by a signal in the middle of it may need for ever. */
#define SET_TIMEOUT_US (10 * DN__US_PER_MS)

typedef struct words {
        uint64_t word[DN__SHM_NAME_WORDS];
        size_t n_words;
        size_t n_bytes;
} words;

/* Not all is cleared, only the rest of the last word: most names are short. */
static void set_words(words *words, const char *name, size_t n_name_bytes)
{
        words->n_words = (n_name_bytes + 7) / 8;
        words->n_bytes = n_name_bytes;
        words->word[words->n_words - 1] = 0;
        memcpy(words->word, name, n_name_bytes);
}

/* 0 is the free slot. */
static uint64_t tag_of(uint64_t hash)
{
        return hash ? hash : 1;
}

static size_t index_of(const dn__region *region, const dn__shm_slot *slot)
{
        return (size_t)(slot - region->table->slots);
}

static bool slot_has_name(const dn__shm_slot *slot, const words *name)
{
        if (atomic_load_explicit(&slot->n_name_bytes, memory_order_relaxed) != name->n_bytes)
                return false;
        for (size_t i = 0; i < name->n_words; i++)
                if (atomic_load_explicit(&slot->name[i], memory_order_relaxed) != name->word[i])
                        return false;
        return true;
}

static dn__shm_slot *find(const dn__region *region, uint64_t hash, const words *name)
{
        size_t first = dn__shm_set_of(hash) * DN__SHM_SLOTS_PER_SET;
        dn__shm_table *table = region->table;

        for (size_t i = first; i < first + DN__SHM_SLOTS_PER_SET; i++)
                if (atomic_load_explicit(&table->tags[i], memory_order_acquire) == tag_of(hash) &&
                    slot_has_name(&table->slots[i], name))
                        return &table->slots[i];
        return NULL;
}

dn__shm_slot *dn__slot_find(const dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        size_t first = dn__shm_set_of(hash) * DN__SHM_SLOTS_PER_SET;
        words words;

        /* Most posts are of names that nobody holds: see that before copying the name. */
        for (size_t i = first; i < first + DN__SHM_SLOTS_PER_SET; i++) {
                if (atomic_load_explicit(&region->table->tags[i], memory_order_relaxed) ==
                    tag_of(hash)) {
                        set_words(&words, name, n_name_bytes);
                        return find(region, hash, &words);
                }
        }
        return NULL;
}

uint64_t dn__slot_count_post_of(const dn__region *region, uint64_t hash, const char *name,
                                size_t n_name_bytes)
{
        dn__shm_slot *slot = dn__slot_find(region, hash, name, n_name_bytes);
        uint64_t generation = slot ? dn__slot_count_post(slot) : 0;

        /* If it passed to another name meanwhile, nobody held this one, and the number is of no
         * use; the other name has a post too many, which is allowed. */
        return slot && dn__slot_find(region, hash, name, n_name_bytes) == slot ? generation : 0;
}

/* Takes a set from a process that died while it changed it. */
static bool take_over(dn__region *region, _Atomic uint64_t *owner, uint64_t found)
{
        unsigned process = dn__shm_owner_process(found);

        if (process < DN__SHM_N_PROCESSES && dn__region_process_is_alive(region, process))
                return false;
        return atomic_compare_exchange_strong(owner, &found, region->owner);
}

static bool set_acquire(dn__region *region, size_t set)
{
        _Atomic uint64_t *owner = &region->table->owners[set];
        uint64_t deadline_us = 0;

        for (;;) {
                uint64_t found = 0;

                if (atomic_compare_exchange_strong(owner, &found, region->owner))
                        return true;
                if (!deadline_us)
                        deadline_us = dn__clock_after_us(SET_TIMEOUT_US);
                else if (found && take_over(region, owner, found))
                        return true;
                else if (dn__clock_now_us() > deadline_us)
                        return false;
                (void)sched_yield();
        }
}

static void set_release(dn__region *region, size_t set)
{
        atomic_store_explicit(&region->table->owners[set], 0, memory_order_release);
}

static _Atomic uint64_t *holder_word(const dn__region *region, unsigned process, size_t index)
{
        return &region->table->holders[process][index / 64];
}

static bool slot_is_held(const dn__region *region, size_t index)
{
        uint64_t n_used = atomic_load(&region->table->n_processes_used);
        uint64_t bit = UINT64_C(1) << index % 64;

        for (unsigned i = 0; i < n_used && i < DN__SHM_N_PROCESSES; i++)
                if ((atomic_load(holder_word(region, i, index)) & bit) &&
                    dn__region_process_is_alive(region, i))
                        return true;
        return false;
}

/* Finds room in the set: a slot that never had a name, else one whose name nobody holds. */
static dn__shm_slot *find_room(const dn__region *region, size_t set)
{
        size_t first = set * DN__SHM_SLOTS_PER_SET, end = first + DN__SHM_SLOTS_PER_SET;

        for (size_t i = first; i < end; i++)
                if (atomic_load(&region->table->tags[i]) == 0)
                        return &region->table->slots[i];
        for (size_t i = first; i < end; i++)
                if (!slot_is_held(region, i))
                        return &region->table->slots[i];
        return NULL;
}

/* Returns false when there is no memory for the slot. */
static bool slot_set_name(dn__region *region, dn__shm_slot *slot, uint64_t hash,
                          const words *name)
{
        size_t index = index_of(region, slot);
        _Atomic uint64_t *tag = &region->table->tags[index];

        if (dn__file_reserve(region->fd,
                             offsetof(dn__shm_table, slots) + index * sizeof(*slot),
                             sizeof(*slot)) < 0)
                return false;

        atomic_store(tag, 0);
        for (size_t i = 0; i < DN__SHM_NAME_WORDS; i++)
                atomic_store_explicit(&slot->name[i], i < name->n_words ? name->word[i] : 0,
                                      memory_order_relaxed);
        atomic_store_explicit(&slot->n_name_bytes, name->n_bytes, memory_order_relaxed);
        atomic_store_explicit(&slot->state, 0, memory_order_relaxed);
        /* The count goes on where the last name left it: 0 alone means "not counted". */
        (void)dn__slot_count_post(slot);
        atomic_store_explicit(tag, tag_of(hash), memory_order_release);
        return true;
}

dn__shm_slot *dn__slot_hold(dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        size_t set = dn__shm_set_of(hash), index;
        dn__shm_slot *slot;
        words words;

        set_words(&words, name, n_name_bytes);
        if (!set_acquire(region, set))
                return NULL;
        slot = find(region, hash, &words);
        if (slot) {
                /* The state ended with the last process that held the name. */
                if (atomic_load(&slot->state) && !slot_is_held(region, index_of(region, slot)))
                        atomic_store(&slot->state, 0);
        } else {
                slot = find_room(region, set);
                if (slot && !slot_set_name(region, slot, hash, &words))
                        slot = NULL;
        }
        if (slot) {
                index = index_of(region, slot);
                atomic_fetch_or(holder_word(region, region->process, index),
                                UINT64_C(1) << index % 64);
        }
        set_release(region, set);
        return slot;
}

void dn__slot_release(dn__region *region, dn__shm_slot *slot)
{
        size_t index;

        if (!slot)
                return;
        index = index_of(region, slot);
        atomic_fetch_and(holder_word(region, region->process, index),
                         ~(UINT64_C(1) << index % 64));
}
