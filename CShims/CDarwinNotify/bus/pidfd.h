/* Finds descriptors of processes: libsystemd 257 and later keeps one of the bus's process with each
 * connection, and does not return it. */
#pragma once

#include <stdint.h>

#define DN__PIDFDS_MAX 1024

/* The numbers of the process's descriptors of processes, those below the limit. */
typedef struct dn__pidfds {
        uint64_t bits[DN__PIDFDS_MAX / 64];
} dn__pidfds;

/* Empty where there is no /proc. */
dn__pidfds dn__pidfds_list(void);

/* Returns the first number after `fd` that is in the second list alone, or -1. */
int dn__pidfds_next_new(const dn__pidfds *before, const dn__pidfds *now, int fd);
