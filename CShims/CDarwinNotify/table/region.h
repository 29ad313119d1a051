/* The table of one bus, mapped into this process. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/file.h"
#include "table/layout.h"
#include "util/wake.h"

#define DN__REGION_NO_ENTRY DN__SHM_N_PROCESSES

/* A process that only posts has no entry. One that holds names has an entry, kept alive by a lock
 * on one byte of the file: the kernel releases it when the process dies for any reason. No
 * descriptor of the file stays open. */
typedef struct dn__region {
        dn__shm_table *table;
        dn__file_id file;         /* as it was found; the path is owned */
        void *anchor;             /* a mapping that keeps the claims; NULL: there are none */
        _Atomic unsigned process; /* our entry, or DN__REGION_NO_ENTRY */
        uint64_t id;              /* the table's id, as it was when we mapped it */
        uint64_t owner;           /* written into the owner word of a set */
        dn__wake_target target;   /* of our entry: how others reach the thread that reads it */
        struct dn__region *previous; /* the stale one that this one replaces; still mapped. Constant
                                      * once the hub uses this one */
} dn__region;

/* Maps the table of `key` (the scope of an address) that the user's processes share. `may_make`:
 * makes it if needed.
 *
 * Returns 0 or a negative errno: -EALREADY if it is `known`, which may be NULL; others as
 * dn__file_find() and dn__file_make(). */
int dn__region_find(const char *key, const dn__region *known, bool may_make,
                    dn__region **ret_region);

/* Takes an entry, unless we have one. Returns 0 or a negative errno: -ENOENT if the file was
 * removed or is being removed: another one must be found; -EUSERS if all entries are taken;
 * or the error of a system call. One thread at a time. */
int dn__region_enter(dn__region *region);

static inline bool dn__region_has_entry(const dn__region *region)
{
        return region && atomic_load(&region->process) != DN__REGION_NO_ENTRY;
}

/* Reserves memory behind part of the table. Otherwise a full file system would show up as SIGBUS
 * on access. Returns 0 or a negative errno. */
int dn__region_reserve(const dn__region *region, void *memory, size_t n_bytes);

/* Releases our entry and everything it held, in this region and the previous ones. NULL is allowed.
 * Returns NULL. */
dn__region *dn__region_close(dn__region *region);

/* Releases our entry. Threads may still be reading and counting there, so the memory stays mapped;
 * if there are many regions, that of the oldest is cleared. */
void dn__region_leave(dn__region *region);

/* Returns a number, odd if the table is stale: a process has found another one. It may be wrong. */
static inline uint64_t dn__region_get_stale_count(const dn__region *region)
{
        return atomic_load(&region->table->stale_count);
}

static inline bool dn__region_is_stale(const dn__region *region)
{
        return dn__region_get_stale_count(region) % 2;
}

/* Declares the table stale: this process moves to another one. */
void dn__region_set_stale(dn__region *region);

/* Makes the number even if it is still `stale_count`, which was read before the table was found at
 * its path. */
void dn__region_clear_stale(dn__region *region, uint64_t stale_count);

/* Returns what identifies this process in its entry. */
uint64_t dn__region_own_pid(void);

/* Returns whether the process of an entry is alive; true for our own entry, and if unsure. */
bool dn__region_process_is_alive(const dn__region *region, unsigned process);
