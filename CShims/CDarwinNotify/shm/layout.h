/* The bytes of the table that the processes of one user share. Version 1.
 *
 *   header     one page, with the number of entries that were ever taken
 *   owners     uint64[N_SETS]                    who is changing a set: the entry of a process
 *                                               plus 1, and above 16 bits a random number, so
 *                                               that the next process of the entry is another
 *                                               owner; 0 is nobody
 *   tags       uint64[N_SLOTS]                   hash of the slot's name; 0 is a free slot
 *   pids       uint64[N_PROCESSES]               the processes, for whoever looks at the table
 *   holders    uint64[N_PROCESSES][N_SLOTS / 64] one bit for each slot that a process holds
 *   slots      dn__shm_slot[N_SLOTS]
 *
 * All numbers in the machine's byte order; there are no pointers. A name belongs to the set that
 * its hash picks, and to no other, so that it is found by looking at SLOTS_PER_SET tags. The file
 * is sparse: what is never touched takes no memory. The version is part of the file's name:
 * another version is another file, and the two do not meet. */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DN__SHM_VERSION 1
#define DN__SHM_MAGIC UINT64_C(0x31454c424154444e) /* "NDTABLE1" */

#define DN__SHM_PAGE_BYTES 4096

/* 10 000 distinct names fill less than a third; a full set then is one in a million. */
#define DN__SHM_N_SETS 2048
#define DN__SHM_SLOTS_PER_SET 16
#define DN__SHM_N_SLOTS (DN__SHM_N_SETS * DN__SHM_SLOTS_PER_SET)

/* Processes of one user that observe at a time; a further one works over the bus alone. */
#define DN__SHM_N_PROCESSES 1024

/* 511 bytes, the longest name, and a NUL that keeps the words whole. */
#define DN__SHM_NAME_WORDS 64

typedef struct dn__shm_header {
        uint64_t magic;
        uint32_t version;
        uint32_t n_sets;
        uint32_t slots_per_set;
        uint32_t n_processes;
        uint32_t slot_bytes;
        uint32_t reserved;
        uint64_t region; /* random, never 0: tells this table from another one */
} dn__shm_header;

typedef struct dn__shm_slot {
        _Atomic uint64_t generation; /* counts the posts of the name; never 0 once named */
        _Atomic uint64_t n_name_bytes;
        _Atomic uint64_t state; /* of the name, as long as a process holds it */
        uint64_t reserved[5];
        _Atomic uint64_t name[DN__SHM_NAME_WORDS]; /* zero-padded */
} dn__shm_slot;

/* The set that a name belongs to. FNV-1a hardly moves its middle bits for names that differ in
 * their last bytes, as numbered names do: Fibonacci hashing lets every bit take part. */
static inline size_t dn__shm_set_of(uint64_t hash)
{
        return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 53);
}

static_assert(DN__SHM_N_SETS == 1 << (64 - 53), "dn__shm_set_of() has as many values");

/* The entry in an owner word; no process has one above DN__SHM_N_PROCESSES. */
static inline unsigned dn__shm_owner_process(uint64_t owner)
{
        return (unsigned)(owner & 0xffff) - 1;
}

#define DN__SHM_HOLDER_WORDS (DN__SHM_N_SLOTS / 64)

typedef struct dn__shm_table {
        union {
                struct {
                        dn__shm_header header;
                        _Atomic uint64_t n_processes_used; /* no entry above was ever taken */
                };
                unsigned char header_page[DN__SHM_PAGE_BYTES];
        };
        _Atomic uint64_t owners[DN__SHM_N_SETS];
        _Atomic uint64_t tags[DN__SHM_N_SLOTS];
        _Atomic uint64_t pids[DN__SHM_N_PROCESSES];
        _Atomic uint64_t holders[DN__SHM_N_PROCESSES][DN__SHM_HOLDER_WORDS];
        dn__shm_slot slots[DN__SHM_N_SLOTS];
} dn__shm_table;

static_assert(sizeof(dn__shm_slot) == 576, "part of the format");
static_assert(offsetof(dn__shm_slot, name) == 64, "part of the format");
static_assert(offsetof(dn__shm_table, owners) == 4096, "part of the format");
static_assert(offsetof(dn__shm_table, tags) == 4096 + 16384, "part of the format");
static_assert(offsetof(dn__shm_table, pids) == 4096 + 16384 + 262144, "part of the format");
static_assert(offsetof(dn__shm_table, holders) == 4096 + 16384 + 262144 + 8192,
              "part of the format");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock cannot be shared between processes");
