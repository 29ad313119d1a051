/* The memory layout of the table shared by the processes of one user. Version 5.
 *
 *   header     one page, with global state
 *   owners     uint64[N_SETS]                    which process is changing a set: see below
 *   tags       uint64[N_SLOTS]                   hash of the slot's name; 0: free slot
 *   processes  dn__shm_process[N_PROCESSES]      where others ring a process
 *   marks      uint64[N_PROCESSES][N_SLOTS / 64] one bit for each slot that was posted
 *   slots      dn__shm_slot[N_SLOTS]
 *
 * All numbers are in native byte order; there are no pointers. A name's hash selects its set, so a
 * lookup checks SLOTS_PER_SET tags. The file is sparse: untouched parts take no memory. The version
 * is part of the file name: each version has its own file, and two versions never meet. */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/wake.h"

#define DN__SHM_VERSION 5
/* "NDTABLE" and the digit of the version. */
#define DN__SHM_MAGIC (UINT64_C(0x30454c424154444e) + ((uint64_t)DN__SHM_VERSION << 56))

#define DN__SHM_PAGE_BYTES 4096
#define DN__SHM_LINE_BYTES 64 /* cache line */

/* 10 000 distinct names fill less than a third of the slots. The chance that any of them finds its
 * set full is about 1 in 200 000; with sets of 16 it would be 1 in 30. */
#define DN__SHM_N_SETS 1024
#define DN__SHM_SLOTS_PER_SET 32
#define DN__SHM_N_SLOTS (DN__SHM_N_SETS * DN__SHM_SLOTS_PER_SET)

/* Processes of one user that can hold names in a table at once; others use the bus alone. */
#define DN__SHM_N_PROCESSES 1024

/* Claims are locked bytes beyond the end of the file, where a lock needs no data: one for each
 * entry; one for each entry whose process is alive, taken once it has cleared the previous one's
 * leftovers; one while the file has its temporary name. */
#define DN__SHM_CLAIMS_OFFSET ((off_t)1 << 40)
#define DN__SHM_ALIVE DN__SHM_N_PROCESSES
#define DN__SHM_MAKING (2 * DN__SHM_N_PROCESSES)
#define DN__SHM_N_CLAIMS (DN__SHM_MAKING + 1)

/* The longest name, 511 bytes, and a NUL to fill the last word. */
#define DN__SHM_NAME_WORDS 64

#define DN__SHM_HOLDER_WORDS (DN__SHM_N_PROCESSES / 64)
#define DN__SHM_MARK_WORDS (DN__SHM_N_SLOTS / 64)
#define DN__SHM_SUMMARY_WORDS (DN__SHM_MARK_WORDS / 64)
#define DN__SHM_N_BLOCKS (DN__SHM_N_PROCESSES / DN__WAKE_BLOCK)

typedef struct dn__shm_header {
        uint64_t magic;
        uint32_t version;
        uint32_t n_sets;
        uint32_t slots_per_set;
        uint32_t n_processes;
        uint32_t slot_bytes;
        uint32_t reserved;
        uint64_t region_id; /* random, never 0: identifies this table */
} dn__shm_header;

/* A post reads the first line, `holders` and the name, and writes the count and `posted_ns`. */
typedef struct dn__shm_slot {
        _Atomic uint64_t generation; /* number of posts of the name; never 0 once named */
        _Atomic uint64_t n_name_bytes;
        _Atomic uint64_t state; /* of the name, while a process holds it */
        _Atomic uint64_t posted_ns; /* when it was last posted, by CLOCK_MONOTONIC: for the order */
        _Atomic uint64_t named; /* the generation with which it got its name */
        uint64_t reserved[3];
        _Atomic uint64_t holders[DN__SHM_HOLDER_WORDS]; /* one bit for each process */
        _Atomic uint64_t name[DN__SHM_NAME_WORDS];      /* zero-padded */
} dn__shm_slot;

/* One entry. Its process locks a byte of the file (region.c). Each line has one writer, or is
 * written at only one moment. */
typedef struct dn__shm_process {
        _Alignas(DN__SHM_LINE_BYTES) _Atomic uint32_t wake; /* a word of util/wake */
        /* One bit for each nonzero word of the marks. */
        _Alignas(DN__SHM_LINE_BYTES) _Atomic uint64_t marked[DN__SHM_SUMMARY_WORDS];
        _Alignas(DN__SHM_LINE_BYTES) uint64_t reserved[8];
        /* For diagnostics: the pid in the low half, its namespace in the high half. */
        _Alignas(DN__SHM_LINE_BYTES) _Atomic uint64_t pid;
} dn__shm_process;

/* Adjacent entries, which one system call can wake. */
typedef struct dn__shm_block {
        _Alignas(DN__SHM_LINE_BYTES) _Atomic uint32_t n_rings; /* of util/wake */
} dn__shm_block;

/* Returns the set of a name. For names that differ only in their last bytes, such as numbered
 * names, FNV-1a barely changes its middle bits: Fibonacci hashing uses every bit. */
static inline size_t dn__shm_set_of(uint64_t hash)
{
        return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

static_assert(DN__SHM_N_SETS == 1 << (64 - 54), "dn__shm_set_of() has as many values");

/* An owner word is 0 or contains, from the lowest bit up: the entry of a process plus 1, in 16
 * bits; the time at which it entered, so that the entry's next process is a different owner. */
static inline uint64_t dn__shm_owner(uint64_t time, unsigned process)
{
        return time << 16 | (process + 1);
}

/* Valid entries are below DN__SHM_N_PROCESSES. */
static inline unsigned dn__shm_owner_process(uint64_t owner)
{
        return (unsigned)(owner & UINT16_MAX) - 1;
}

typedef struct dn__shm_table {
        union {
                struct {
                        dn__shm_header header;
                        _Atomic uint64_t n_processes_used; /* all later entries are unused */
                        /* The processes that hear of every post, one bit each; `followed` has one
                         * bit for each word of `followers` that ever had a bit set. */
                        _Atomic uint64_t followed;
                        _Atomic uint64_t followers[DN__SHM_HOLDER_WORDS];
                        /* Odd: the table is stale, since a process has found another (region.c). */
                        _Atomic uint64_t stale_count;
                        uint64_t reserved;
                        /* One bit for each set in which a slot ever had a name. */
                        _Atomic uint64_t named_sets[DN__SHM_N_SETS / 64];
                        dn__shm_block blocks[DN__SHM_N_BLOCKS];
                };
                unsigned char header_page[DN__SHM_PAGE_BYTES];
        };
        _Atomic uint64_t owners[DN__SHM_N_SETS];
        _Atomic uint64_t tags[DN__SHM_N_SLOTS];
        dn__shm_process processes[DN__SHM_N_PROCESSES];
        _Atomic uint64_t marks[DN__SHM_N_PROCESSES][DN__SHM_MARK_WORDS];
        dn__shm_slot slots[DN__SHM_N_SLOTS];
} dn__shm_table;

/* Returns how to reach the process of an entry. */
static inline dn__wake_target dn__shm_target(dn__shm_table *table, unsigned process)
{
        return (dn__wake_target){
                .word = &table->processes[process].wake,
                .n_rings = &table->blocks[process / DN__WAKE_BLOCK].n_rings,
                .bit = UINT32_C(1) << process % DN__WAKE_BLOCK,
        };
}

/* Returns whether a slot of the set ever had a name. If not, its tags may have no memory. */
static inline bool dn__shm_set_is_named(const dn__shm_table *table, size_t set)
{
        return atomic_load(&table->named_sets[set / 64]) & UINT64_C(1) << set % 64;
}

/* Returns the first slot at or after `index` that has a name, or DN__SHM_N_SLOTS. */
static inline size_t dn__shm_next_named(const dn__shm_table *table, size_t index)
{
        for (; index < DN__SHM_N_SLOTS; index++) {
                size_t set = index / DN__SHM_SLOTS_PER_SET;

                if (!dn__shm_set_is_named(table, set))
                        index = (set + 1) * DN__SHM_SLOTS_PER_SET - 1;
                else if (atomic_load(&table->tags[index]))
                        break;
        }
        return index;
}

static_assert(sizeof(dn__shm_slot) == 704, "part of the format");
static_assert(offsetof(dn__shm_slot, holders) == 64, "part of the format");
static_assert(offsetof(dn__shm_slot, name) == 192, "part of the format");
static_assert(sizeof(dn__shm_process) == 256, "part of the format");
static_assert(offsetof(dn__shm_table, stale_count) == offsetof(dn__shm_table, followed) + 8 + 128,
              "part of the format");
static_assert(offsetof(dn__shm_table, named_sets) == offsetof(dn__shm_table, stale_count) + 16,
              "part of the format");
static_assert(offsetof(dn__shm_table, blocks) == 384, "part of the format");
static_assert(sizeof(dn__shm_block) == 64, "part of the format");
static_assert(offsetof(dn__shm_table, owners) == 4096, "part of the format");
static_assert(offsetof(dn__shm_table, tags) == 4096 + 8192, "part of the format");
static_assert(offsetof(dn__shm_table, processes) == 4096 + 8192 + 262144, "part of the format");
static_assert(offsetof(dn__shm_table, marks) == 4096 + 8192 + 2 * 262144, "part of the format");
static_assert(sizeof(((dn__shm_table *)NULL)->marks[0]) == DN__SHM_PAGE_BYTES,
              "a process that marks another one touches one page");
static_assert(offsetof(dn__shm_table, slots) == 4096 + 8192 + 2 * 262144 + 4194304,
              "part of the format");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
              "a lock cannot be shared between processes");
