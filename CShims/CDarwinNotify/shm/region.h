/* The table of one bus, mapped into this process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/layout.h"
#include "util/fork.h"

/* This process is in the table as one entry, whose life is a lock on one byte of the file: the
 * kernel gives it back when the process dies, however it dies. */
typedef struct dn__region {
        dn__shm_table *table;
        int fd;
        unsigned process; /* our entry, below DN__SHM_N_PROCESSES */
        uint64_t owner;   /* what we write into the owner word of a set */
        dn__fork_guard *fork_guard;
        char key[];
} dn__region;

/* Maps the table that belongs to `key` (the address of the bus), making it if it is not there.
 *
 * Returns 0 or a negative errno: the directory or the file is not ours alone (-EACCES), it is no
 * table of this version (-EPROTO), all entries are taken (-ENOSPC), or what a system call says.
 * The caller then works without a table. */
int dn__region_open(const char *key, dn__region **ret_region);

/* Gives our entry, with all it held, back. NULL is allowed. Returns NULL. */
dn__region *dn__region_close(dn__region *region);

/* Removes the file if no other process uses the table, so that a bus that came and went leaves
 * nothing behind. The mapping stays what it is. */
void dn__region_remove_if_last(dn__region *region);

/* Tells whether the process of an entry is alive. Our own is. */
bool dn__region_process_is_alive(const dn__region *region, unsigned process);
