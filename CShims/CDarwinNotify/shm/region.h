/* The table of one bus, mapped into this process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/layout.h"
#include "util/fork.h"

/* This process has one entry in the table, kept alive by a lock on one byte of the file: the kernel
 * releases it when the process dies for any reason. */
typedef struct dn__region {
        dn__shm_table *table;
        char *path; /* of the file when it was opened */
        int fd;
        unsigned process; /* our entry, below DN__SHM_N_PROCESSES */
        uint64_t owner;   /* written into the owner word of a set */
        dn__fork_guard *fork_guard;
        char key[];
} dn__region;

/* Maps the table of `key` (the scope of an address), creating it if needed.
 *
 * Returns 0 or a negative errno: -EACCES if there is no private directory, -EUSERS if all entries
 * are taken, -EFBIG if file sizes are limited, or the error of a system call. The caller then works
 * without a table and tries again later. */
int dn__region_open(const char *key, dn__region **ret_region);

/* Releases our entry and everything it held. NULL is allowed. Returns NULL. */
dn__region *dn__region_close(dn__region *region);

/* Removes the file if no other process uses the table, so that a short-lived bus leaves nothing
 * behind. The mapping remains valid. */
void dn__region_remove_if_last(dn__region *region);

/* Returns whether other processes still find this table at its path. */
bool dn__region_is_in_place(const dn__region *region);

/* Returns whether the process of an entry is alive; true for our own. */
bool dn__region_process_is_alive(const dn__region *region, unsigned process);
