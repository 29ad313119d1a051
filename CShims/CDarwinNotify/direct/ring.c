/* Rings processes through the shared table: a post marks its name for each holder, then wakes it.
 *
 * The words and their writers:
 *
 *   generation   of the slot: the poster adds 1. It alone counts posts; all others only show where
 *                to look.
 *   holders      of the slot: a process sets its bit before it reads the initial generation
 *   mark         of the receiver, one bit per slot: set by posters, taken by the receiver
 *   summary      of the receiver, one bit per 64 marks: set by posters, taken by the receiver
 *   wake         of the receiver (util/wake): awake, asleep, rung, being woken
 *   rings        of 32 adjacent entries (util/wake): posters add 1 before they wake any of them
 *
 *   poster                        receiver
 *     P1  generation + 1            R1  wake = awake
 *     P2  read the holders          R2  take the summary
 *     P3  set the mark              R3  take the marks of its bits
 *     P4  set the summary           R4  read the generation of each, and deliver
 *     P5  ring                      R5  check the summary: if it is set, go to R1
 *     P6  if asleep: rings + 1,     R6  go from awake to asleep, unless rung
 *         wake it                   R7  read the rings; sleep while asleep and these are the same
 *
 * All accesses are sequentially consistent, as Scripts/check-atomics checks, so they have a total
 * order. After the last post of a name, a receiver that holds the name reads a generation that
 * counts the post. Consider P5:
 *
 *   - it finds awake: R6 fails, or is still to come, and the receiver goes to R1;
 *   - it finds rung: the receiver has not passed R1 since the other ring, and will;
 *   - it finds asleep: P6 wakes the receiver, which goes to R1;
 *   - it finds being woken: the other poster may have died, so P6 wakes the receiver too.
 *
 * So the receiver reaches R1 after P5. It then takes the summary, or has taken it since P4; with it
 * the mark, or has taken that since P3; and then reads the generation, which is after P1. Finding a
 * bit already set is as good as setting it, because the receiver has not taken it yet. The
 * remaining steps must still be performed: the poster that set the bit may have died before
 * reaching them.
 *
 * A process that becomes a holder after P2 reads an initial generation that already counts the
 * post, because the post came first. A poster that dies before P5 has not returned from its post,
 * which is then delivered along with the next one. What a dead receiver leaves is cleared before
 * the next process uses its entry; a mark set later, by a poster that had read the holders earlier,
 * leads to nothing new.
 *
 * If many of 64 processes hold the name, P3 and P4 are taken for each, then, for each block of 32,
 * P5 for each and P6 once: a poster that is preempted delays up to 64, and one that dies may leave
 * up to 32 being woken.
 *
 * The test of this file tries every order of these steps. */
#include "direct/ring.h"

#include <stdlib.h>

#include "util/probe.h"
#include "util/wake.h"

/* The number of names that are delivered in the order of their posts; more are not sorted. */
#define MAX_SORTED 256

/* Needed because others may post endlessly. */
#define MAX_LOOKS 4

/* If at least this many of a word's 64 processes must be woken, they are woken a block at a time,
 * which saves system calls. Fewer are woken one by one, so that the first already runs while the
 * poster marks the others. Measured on a machine with two processors. */
#define MIN_TOGETHER 17

/* --- Ringing -------------------------------------------------------------------------------- */

/* Skips the write if the bit is already set: in a flood the cache line stays shared by all
 * readers. */
static void set_bit(_Atomic uint64_t *words, size_t index)
{
        uint64_t bit = UINT64_C(1) << index % 64;

        if (!(atomic_load(&words[index / 64]) & bit))
                (void)atomic_fetch_or(&words[index / 64], bit);
}

static void ring_one(dn__shm_table *table, unsigned process)
{
        dn__wake_target target = dn__shm_target(table, process);

        dn__wake_ring(&target);
}

/* Rings processes of one block, a bit for each. */
static void ring_block(dn__shm_table *table, unsigned block, uint32_t processes)
{
        dn__shm_process *first = &table->processes[block * DN__WAKE_BLOCK];
        uint32_t rung[DN__WAKE_BLOCK], asleep = 0;

        for (uint32_t rest = processes; rest; rest &= rest - 1) {
                unsigned i = (unsigned)__builtin_ctz(rest);

                rung[i] = dn__wake_set_rung(&first[i].wake);
                if (rung[i])
                        asleep |= UINT32_C(1) << i;
        }
        if (asleep)
                dn__wake_rouse_block(&table->blocks[block].n_rings, asleep);
        for (; asleep; asleep &= asleep - 1)
                dn__wake_settle(&first[__builtin_ctz(asleep)].wake, rung[__builtin_ctz(asleep)]);
}

/* Few of the words have ever had a holder. A process that enters the table after this becomes a
 * holder even later, and reads an initial generation that includes the post. */
static unsigned count_used(const dn__shm_table *table)
{
        uint64_t n_used = atomic_load(&table->n_processes_used);

        return n_used < DN__SHM_N_PROCESSES ? (unsigned)n_used : DN__SHM_N_PROCESSES;
}

static void mark(dn__shm_table *table, unsigned process, const dn__shm_slot *slot)
{
        size_t index = (size_t)(slot - table->slots);

        DN__PROBE(ring, slot->name, atomic_load(&slot->generation),
                  (uint32_t)atomic_load(&table->processes[process].pid));
        set_bit(table->marks[process], index);
        set_bit(table->processes[process].marked, index / 64);
}

/* Marks a slot for processes, a bit for each of the 64 that start at `first`, and rings them. */
static void mark_and_ring(dn__shm_table *table, unsigned first, uint64_t processes,
                          const dn__shm_slot *slot)
{
        bool is_together = __builtin_popcountll(processes) >= MIN_TOGETHER;

        for (uint64_t rest = processes; rest; rest &= rest - 1) {
                unsigned process = first + (unsigned)__builtin_ctzll(rest);

                mark(table, process, slot);
                if (!is_together)
                        ring_one(table, process);
        }
        for (unsigned block = first / DN__WAKE_BLOCK; is_together && processes; block++) {
                ring_block(table, block, (uint32_t)processes);
                processes >>= DN__WAKE_BLOCK;
        }
}

void dn__ring_holders(const dn__region *region, const dn__shm_slot *slot)
{
        dn__shm_table *table = region->table;
        uint64_t followed = atomic_load(&table->followed);
        unsigned n_used = count_used(table), own = atomic_load(&region->process);

        for (unsigned i = 0; i * 64 < n_used; i++) {
                uint64_t processes = atomic_load(&slot->holders[i]);

                if (followed >> i & 1)
                        processes |= atomic_load(&table->followers[i]);
                if (i == own / 64)
                        processes &= ~(UINT64_C(1) << own % 64);
                /* There is no memory behind an entry that was never used. */
                if (n_used - i * 64 < 64)
                        processes &= (UINT64_C(1) << n_used % 64) - 1;
                mark_and_ring(table, i * 64, processes, slot);
        }
}

void dn__ring_follow(const dn__region *region)
{
        dn__shm_table *table = region->table;
        unsigned process = atomic_load(&region->process);

        set_bit(table->followers, process);
        set_bit(&table->followed, process / 64);
}

void dn__ring_unfollow(const dn__region *region)
{
        unsigned process = atomic_load(&region->process);

        (void)atomic_fetch_and(&region->table->followers[process / 64],
                               ~(UINT64_C(1) << process % 64));
}

void dn__ring_all(const dn__region *region)
{
        unsigned n_used = count_used(region->table), own = atomic_load(&region->process);

        for (unsigned i = 0; i < n_used; i++)
                if (i != own)
                        ring_one(region->table, i);
}

/* --- Taking marks --------------------------------------------------------------------------- */

bool dn__ring_is_marked(const dn__region *region)
{
        const dn__shm_process *own = &region->table->processes[atomic_load(&region->process)];

        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++)
                if (atomic_load(&own->marked[i]))
                        return true;
        return false;
}

static uint64_t take(_Atomic uint64_t *word)
{
        return atomic_load(word) ? atomic_exchange(word, 0) : 0;
}

/* Calls `found` for each marked slot. */
static void take_marks(const dn__region *region, void (*found)(void *context, size_t slot_index),
                       void *context)
{
        dn__shm_table *table = region->table;
        unsigned own = atomic_load(&region->process);

        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++) {
                uint64_t words = take(&table->processes[own].marked[i]);

                for (; words; words &= words - 1) {
                        size_t first = (i * 64 + (size_t)__builtin_ctzll(words)) * 64;
                        uint64_t marks = take(&table->marks[own][first / 64]);

                        for (; marks; marks &= marks - 1)
                                found(context, first + (size_t)__builtin_ctzll(marks));
                }
        }
}

typedef struct marked {
        uint64_t posted_ns;
        size_t slot_index;
} marked;

typedef struct collection {
        const dn__region *region;
        void (*found)(void *context, size_t slot_index);
        void *context;
        marked marked[MAX_SORTED];
        size_t n_marked;
} collection;

static int compare_times(const void *a, const void *b)
{
        const marked *first = a, *second = b;

        return (first->posted_ns > second->posted_ns) - (first->posted_ns < second->posted_ns);
}

static void report_in_order(collection *collection)
{
        if (collection->n_marked > 1)
                qsort(collection->marked, collection->n_marked, sizeof(collection->marked[0]),
                      compare_times);
        for (size_t i = 0; i < collection->n_marked; i++)
                collection->found(collection->context, collection->marked[i].slot_index);
        collection->n_marked = 0;
}

static void add(void *context, size_t slot_index)
{
        collection *collection = context;
        const dn__shm_table *table = collection->region->table;

        /* Without a tag there may be no memory behind the slot. */
        if (atomic_load(&table->tags[slot_index]) == 0)
                return;
        if (collection->n_marked == MAX_SORTED)
                report_in_order(collection);
        collection->marked[collection->n_marked++] =
                (marked){ atomic_load_explicit(&table->slots[slot_index].posted_ns,
                                               memory_order_relaxed),
                          slot_index };
}

void dn__ring_take(const dn__region *region, void (*found)(void *context, size_t slot_index),
                   void *context)
{
        collection collection;

        /* Not the whole array. */
        collection.region = region;
        collection.found = found;
        collection.context = context;
        collection.n_marked = 0;
        /* A walk over the marks may find one that was set after one it has already passed. So it is
         * repeated until there are no more. */
        for (int i = 0; i < MAX_LOOKS; i++) {
                size_t n_before = collection.n_marked;

                take_marks(region, add, &collection);
                if (collection.n_marked == n_before)
                        break;
        }
        report_in_order(&collection);
}
