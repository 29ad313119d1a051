/* The slot of a name in the shared table: lookup, holds, counting.
 *
 * Reading takes no lock. Only one process at a time changes a set, after writing its entry into the
 * set's owner word by compare-and-swap; if it dies, the next process takes the set over. A slot has
 * a name when its tag is not 0: the tag is cleared before the name changes and set afterwards, so a
 * process stopped at any instruction leaves a slot that is either free or complete.
 *
 * Slots are not freed when nobody holds them: the next name that needs room in their set reuses
 * them. Only then is it checked whether their holders are alive, because each check is a system
 * call. */
#include "shm/slot.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/file.h"
#include "util/clock.h"

/* How often to check whether a process that is changing a set is alive. A change takes a
 * microsecond, or a few milliseconds if many processes compete for a CPU. */
#define LIFE_CHECK_US (10 * DN__US_PER_MS)

/* How long to wait for a live owner: it must have been stopped during the change. No call of the
 * library waits longer; the name asks for its slot again later. */
#define STOPPED_TIMEOUT_US (900 * DN__US_PER_MS)

/* Longer than processes need to come to the next table. */
#define FRESH_NS (UINT64_C(60) * 1000 * 1000 * 1000)

/* How often to look for room: each time, another name took the slot found. */
#define N_ATTEMPTS 64

typedef struct words {
        uint64_t word[DN__SHM_NAME_WORDS];
        size_t n_words;
        size_t n_bytes;
} words;

/* Clears only the rest of the last word: most names are short. */
static void set_words(words *words, const char *name, size_t n_name_bytes)
{
        words->n_words = (n_name_bytes + 7) / 8;
        words->n_bytes = n_name_bytes;
        words->word[words->n_words - 1] = 0;
        memcpy(words->word, name, n_name_bytes);
}

/* 0 marks a free slot. */
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

static bool has_tag(const dn__region *region, const dn__shm_slot *slot, uint64_t hash)
{
        return atomic_load_explicit(&region->table->tags[index_of(region, slot)],
                                    memory_order_acquire) == tag_of(hash);
}

static dn__shm_slot *find(const dn__region *region, uint64_t hash, const words *name)
{
        size_t first = dn__shm_set_of(hash) * DN__SHM_SLOTS_PER_SET;
        dn__shm_table *table = region->table;

        for (size_t i = first; i < first + DN__SHM_SLOTS_PER_SET; i++)
                if (has_tag(region, &table->slots[i], hash) &&
                    slot_has_name(&table->slots[i], name))
                        return &table->slots[i];
        return NULL;
}

dn__shm_slot *dn__slot_find(const dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        size_t first = dn__shm_set_of(hash) * DN__SHM_SLOTS_PER_SET;
        words words;

        /* Most posts are of names that nobody holds: detect that before copying the name. */
        for (size_t i = first; i < first + DN__SHM_SLOTS_PER_SET; i++) {
                if (atomic_load_explicit(&region->table->tags[i], memory_order_relaxed) ==
                    tag_of(hash)) {
                        set_words(&words, name, n_name_bytes);
                        return find(region, hash, &words);
                }
        }
        return NULL;
}

void dn__slot_count_for_others(const dn__region *region, dn__post *post)
{
        const dn__name *name = &post->name;
        dn__shm_slot *slot = dn__slot_find(region, name->hash, name->text, name->n_bytes);
        uint64_t generation;
        words words;

        if (!slot)
                return;
        set_words(&words, name->text, name->n_bytes);
        dn__slot_note_time(slot);
        generation = dn__slot_get_generation(slot);
        /* A slot's count increases when it passes to another name: so it had this name from the
         * reading of the generation until the increment. */
        do {
                if (!has_tag(region, slot, name->hash) || !slot_has_name(slot, &words))
                        return;
        } while (!atomic_compare_exchange_weak(&slot->generation, &generation, generation + 1));
        post->slot = slot;
        post->generation = generation + 1;
}

bool dn__slot_read_name(const dn__region *region, size_t index, char ret_text[DN__SLOT_NAME_BYTES],
                        dn__name *ret_name)
{
        const dn__shm_slot *slot = &region->table->slots[index];
        uint64_t hash = atomic_load(&region->table->tags[index]), n_bytes;

        /* Without a tag there may be no memory behind the slot. */
        if (hash == 0)
                return false;
        n_bytes = atomic_load_explicit(&slot->n_name_bytes, memory_order_relaxed);
        if (n_bytes == 0 || n_bytes >= DN__SLOT_NAME_BYTES - 1)
                return false;
        for (size_t i = 0; i <= n_bytes / 8; i++) {
                uint64_t word = atomic_load_explicit(&slot->name[i], memory_order_relaxed);

                memcpy(ret_text + i * sizeof(word), &word, sizeof(word));
        }
        ret_text[n_bytes] = '\0';
        *ret_name = (dn__name){ ret_text, n_bytes, hash, DN__REACH_BEYOND, false, false };
        return strlen(ret_text) == n_bytes;
}

/* --- Changing a set ------------------------------------------------------------------------ */

/* The half of an owner word that a process can wait on: a futex has 32 bits. */
static uint32_t *low_half(_Atomic uint64_t *owner)
{
        return (uint32_t *)(void *)owner + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Sleeps until the set is released, checking periodically whether its owner is alive. */
static void await_set(_Atomic uint64_t *owner, uint64_t found)
{
        struct timespec span = dn__clock_timespec(LIFE_CHECK_US);
        uint64_t awaited = found | DN__SHM_OWNER_AWAITED;

        if (found == awaited || atomic_compare_exchange_strong(owner, &found, awaited))
                (void)syscall(SYS_futex, low_half(owner), FUTEX_WAIT, (uint32_t)awaited, &span,
                              NULL, 0);
}

static bool owner_is_alive(const dn__region *region, uint64_t owner)
{
        unsigned process = dn__shm_owner_process(owner);

        return process < DN__SHM_N_PROCESSES && dn__region_process_is_alive(region, process);
}

static bool set_acquire(dn__region *region, size_t set)
{
        _Atomic uint64_t *owner = &region->table->owners[set];
        uint64_t ours = region->owner, deadline_us = 0;

        for (;;) {
                uint64_t found = 0;

                if (atomic_compare_exchange_strong(owner, &found, ours))
                        return true;
                /* From now on others may be waiting behind us: see set_release(). */
                ours = region->owner | DN__SHM_OWNER_AWAITED;
                if (found && !owner_is_alive(region, found) &&
                    atomic_compare_exchange_strong(owner, &found, ours))
                        return true;
                if (!deadline_us)
                        deadline_us = dn__clock_after_us(STOPPED_TIMEOUT_US);
                if (dn__clock_now_us() > deadline_us)
                        return false;
                if (found)
                        await_set(owner, found);
        }
}

static void set_release(dn__region *region, size_t set)
{
        _Atomic uint64_t *owner = &region->table->owners[set];

        if (atomic_exchange(owner, 0) & DN__SHM_OWNER_AWAITED)
                (void)syscall(SYS_futex, low_half(owner), FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- Holders ------------------------------------------------------------------------------- */

/* Which processes are alive, as far as checked: each check is a system call. */
typedef struct lives {
        uint64_t known[DN__SHM_HOLDER_WORDS];
        uint64_t alive[DN__SHM_HOLDER_WORDS];
} lives;

static bool is_alive(const dn__region *region, lives *lives, unsigned process)
{
        uint64_t bit = UINT64_C(1) << process % 64;

        if (!(lives->known[process / 64] & bit)) {
                lives->known[process / 64] |= bit;
                if (dn__region_process_is_alive(region, process))
                        lives->alive[process / 64] |= bit;
        }
        return lives->alive[process / 64] & bit;
}

static bool slot_is_held(const dn__region *region, const dn__shm_slot *slot, lives *lives)
{
        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++) {
                uint64_t holders = atomic_load(&slot->holders[i]);

                for (; holders; holders &= holders - 1) {
                        unsigned process = i * 64 + (unsigned)__builtin_ctzll(holders);

                        if (is_alive(region, lives, process))
                                return true;
                }
        }
        return false;
}

/* Records which slots we hold, for the entry's next process to clear. */
static void add_holder(dn__region *region, dn__shm_slot *slot)
{
        dn__shm_process *process = &region->table->processes[region->process];
        size_t block = index_of(region, slot) / 64;

        atomic_fetch_or(&process->held[block / 64], UINT64_C(1) << block % 64);
        atomic_fetch_or(&slot->holders[region->process / 64],
                        UINT64_C(1) << region->process % 64);
}

/* --- Allocation ---------------------------------------------------------------------------- */

static bool slot_is_free(const dn__region *region, const dn__shm_slot *slot, lives *lives)
{
        return atomic_load(&region->table->tags[index_of(region, slot)]) == 0 ||
               !slot_is_held(region, slot, lives);
}

/* Finds room in the set: preferably a never used slot, otherwise one whose name nobody holds. */
static dn__shm_slot *find_room(const dn__region *region, size_t set)
{
        size_t first = set * DN__SHM_SLOTS_PER_SET, end = first + DN__SHM_SLOTS_PER_SET;
        lives lives = { 0 };

        for (size_t i = first; i < end; i++)
                if (atomic_load(&region->table->tags[i]) == 0)
                        return &region->table->slots[i];
        for (size_t i = first; i < end; i++)
                if (slot_is_free(region, &region->table->slots[i], &lives))
                        return &region->table->slots[i];
        return NULL;
}

/* What is wanted of a slot. */
typedef struct purpose {
        bool holds;       /* from now on this process holds it */
        bool keeps_state; /* even if nobody holds it */
        const dn__region *from;    /* or NULL: the region whose slot it continues */
        const dn__shm_slot *slot; /* in that region */
} purpose;

/* The count continues from the previous name's: only 0 means "not counted". It continues that of
 * another region only if it grows. */
static void slot_set_count(dn__shm_slot *slot, const purpose *purpose)
{
        uint64_t count = dn__slot_count_post(slot);
        uint64_t before = purpose->from ? dn__slot_get_generation(purpose->slot) : 0;
        bool is_continued = purpose->from && before >= count;

        if (is_continued)
                atomic_store(&slot->generation, before);
        atomic_store_explicit(&slot->carried, is_continued ? purpose->from->id : 0,
                              memory_order_relaxed);
        atomic_store_explicit(&slot->carried_count, before, memory_order_relaxed);
        atomic_store_explicit(&slot->named, is_continued ? before : count, memory_order_relaxed);
        atomic_store_explicit(&slot->state, purpose->from ? atomic_load(&purpose->slot->state) : 0,
                              memory_order_relaxed);
}

/* The slot must be free and have memory. */
static void slot_set_name(dn__region *region, dn__shm_slot *slot, uint64_t hash,
                          const words *name, const purpose *purpose)
{
        _Atomic uint64_t *tag = &region->table->tags[index_of(region, slot)];

        atomic_store(tag, 0);
        for (size_t i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                atomic_store_explicit(&slot->holders[i], 0, memory_order_relaxed);
        for (size_t i = 0; i < DN__SHM_NAME_WORDS; i++)
                atomic_store_explicit(&slot->name[i], i < name->n_words ? name->word[i] : 0,
                                      memory_order_relaxed);
        atomic_store_explicit(&slot->n_name_bytes, name->n_bytes, memory_order_relaxed);
        slot_set_count(slot, purpose);
        atomic_store_explicit(tag, tag_of(hash), memory_order_release);
}

bool dn__slot_is_fresh(const dn__shm_slot *slot)
{
        uint64_t posted_ns = atomic_load_explicit(&slot->posted_ns, memory_order_relaxed);

        return dn__clock_now_ns() - posted_ns < FRESH_NS;
}

/* Adds what was counted elsewhere after the slot had got its count from there, or began to count by
 * itself. */
static void add_carried(dn__shm_slot *slot, const purpose *purpose)
{
        uint64_t count = dn__slot_get_generation(purpose->slot), n_more;

        if (atomic_load(&slot->carried) != purpose->from->id) {
                n_more = dn__slot_is_fresh(purpose->slot);
                atomic_fetch_add(&slot->named, n_more);
        } else {
                n_more = count - atomic_load(&slot->carried_count);
                if (n_more > UINT32_MAX) /* damage */
                        n_more = 0;
                atomic_store(&slot->carried_count, count);
        }
        if (n_more == 0)
                return;
        dn__slot_note_time(slot);
        atomic_fetch_add(&slot->generation, n_more);
}

/* The state ended with the last process that held the name. */
static void settle_state(const dn__region *region, dn__shm_slot *slot, const purpose *purpose)
{
        uint64_t none = 0;
        lives lives = { 0 };

        if (purpose->from)
                (void)atomic_compare_exchange_strong(&slot->state, &none,
                                                     atomic_load(&purpose->slot->state));
        else if (!purpose->keeps_state && atomic_load(&slot->state) &&
                 !slot_is_held(region, slot, &lives))
                atomic_store(&slot->state, 0);
}

/* In a set that we own, takes the name's slot, or else names and takes `room`. Returns NULL if
 * neither is available any more. */
static dn__shm_slot *use_in_set(dn__region *region, uint64_t hash, const words *name,
                                dn__shm_slot *room, const purpose *purpose)
{
        dn__shm_slot *slot = find(region, hash, name);
        lives lives = { 0 };

        if (slot) {
                if (purpose->from)
                        add_carried(slot, purpose);
                settle_state(region, slot, purpose);
        } else if (room && slot_is_free(region, room, &lives)) {
                slot = room;
                slot_set_name(region, slot, hash, name, purpose);
        }
        if (slot && purpose->holds)
                add_holder(region, slot);
        return slot;
}

static int reserve(const dn__region *region, const dn__shm_slot *slot)
{
        size_t offset = offsetof(dn__shm_table, slots) + index_of(region, slot) * sizeof(*slot);

        return dn__file_reserve(dn__region_get_fd(region), offset, sizeof(*slot));
}

static dn__shm_slot *use(dn__region *region, uint64_t hash, const words *words,
                         const purpose *purpose)
{
        size_t set = dn__shm_set_of(hash);

        for (int i = 0; i < N_ATTEMPTS; i++) {
                dn__shm_slot *room = NULL, *slot;

                /* Does the slow part before other processes have to wait for it. */
                if (!find(region, hash, words)) {
                        room = find_room(region, set);
                        if (!room || reserve(region, room) < 0)
                                return NULL;
                }
                if (!set_acquire(region, set))
                        return NULL;
                slot = use_in_set(region, hash, words, room, purpose);
                set_release(region, set);
                if (slot)
                        return slot;
        }
        return NULL;
}

dn__shm_slot *dn__slot_hold(dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        words words;

        set_words(&words, name, n_name_bytes);
        return use(region, hash, &words, &(purpose){ .holds = true });
}

dn__shm_slot *dn__slot_keep(dn__region *region, uint64_t hash, const char *name,
                            size_t n_name_bytes)
{
        words words;

        set_words(&words, name, n_name_bytes);
        return use(region, hash, &words, &(purpose){ .holds = true, .keeps_state = true });
}

dn__shm_slot *dn__slot_carry(dn__region *region, const dn__name *name, const dn__region *from,
                             const dn__shm_slot *slot)
{
        words words;

        set_words(&words, name->text, name->n_bytes);
        return use(region, name->hash, &words, &(purpose){ .from = from, .slot = slot });
}

static bool was_carried(const dn__shm_slot *slot, const dn__region *from, const dn__post *post)
{
        return atomic_load(&slot->carried) == from->id &&
               post->generation <= atomic_load(&slot->carried_count);
}

bool dn__slot_carry_post(dn__region *region, const dn__region *from, dn__post *post)
{
        const dn__name *name = &post->name;
        dn__shm_slot *slot = dn__slot_find(region, name->hash, name->text, name->n_bytes);

        if (!slot || atomic_load(&slot->carried) != from->id)
                return false;
        /* Not counted separately: a process that is carrying the names now might add it again. */
        if (!was_carried(slot, from, post))
                (void)dn__slot_carry(region, name, from, post->slot);
        if (!was_carried(slot, from, post))
                return false;
        post->slot = slot;
        return true;
}

void dn__slot_release(dn__region *region, dn__shm_slot *slot)
{
        if (slot)
                atomic_fetch_and(&slot->holders[region->process / 64],
                                 ~(UINT64_C(1) << region->process % 64));
}
