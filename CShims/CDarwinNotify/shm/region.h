/* The table of one bus, mapped into this process. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "shm/layout.h"
#include "util/fork.h"

/* This process has one entry in the table, kept alive by a lock on one byte of the file: the kernel
 * releases it when the process dies for any reason. */
typedef struct dn__region {
        dn__shm_table *table;
        char *path; /* of the file when it was opened */
        _Atomic int fd; /* see dn__region_get_fd() */
        struct stat file; /* identifies the file */
        void *anchor; /* keeps the claims when the descriptor is closed */
        unsigned process; /* our entry, below DN__SHM_N_PROCESSES */
        uint64_t id;      /* the table's region, as it was when we came */
        uint64_t owner;   /* written into the owner word of a set */
        dn__fork_guard *fork_guard;
        struct dn__region *previous; /* the one left for this one; still mapped */
        _Atomic bool is_keeper;
        char key[];
} dn__region;

/* Maps the table of `key` (the scope of an address), creating it if needed.
 *
 * Returns 0 or a negative errno: -EACCES if there is no private directory, -EUSERS if all entries
 * are taken, -EFBIG if file sizes are limited, or the error of a system call. The caller then works
 * without a table and tries again later. */
int dn__region_open(const char *key, dn__region **ret_region);

/* Returns the descriptor of the file, opened again if the host has closed it; -1 if it cannot
 * be. */
int dn__region_get_fd(const dn__region *region);

/* Releases our entry and everything it held, and those of the regions before. NULL is allowed.
 * Returns NULL. */
dn__region *dn__region_close(dn__region *region);

/* Removes the file if no other process uses the table, so that a short-lived bus leaves nothing
 * behind. The mapping remains valid. */
void dn__region_remove_if_last(dn__region *region);

/* Releases our entry. Threads may still be reading and counting there, so the memory stays mapped;
 * that of the oldest of many is cleared. */
void dn__region_leave(dn__region *region);

/* Returns whether other processes still find this table at its path. If they do, a mark that says
 * it was left is damage, and is cleared. */
bool dn__region_is_in_place(const dn__region *region);

/* Finds the table that other processes use now: the region itself, or another one that is opened.
 * `region` is NULL if there was none. Returns as dn__region_open(). */
int dn__region_find_next(dn__region *region, const char *key, dn__region **ret_next);

/* Returns whether processes have left the table for another one. They did not see what is counted
 * here from now on. */
static inline bool dn__region_was_left(const dn__region *region)
{
        return atomic_load(&region->table->moved) != 0;
}

/* Returns whether the region with an ID is this one or one before it. */
bool dn__region_was_once(const dn__region *region, uint64_t id);

bool dn__region_is_same(const dn__region *a, const dn__region *b);

/* Lets a few processes of each table watch over its file, so that not each of them needs what the
 * system has few of. Returns whether this is one of them. */
bool dn__region_become_keeper(dn__region *region);

/* Returns whether the process of an entry is alive; true for our own. */
bool dn__region_process_is_alive(const dn__region *region, unsigned process);
