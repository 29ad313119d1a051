/* A descriptor that wakes a thread that polls.
 *
 * A pipe, since its ends are recognisable: the host may close all descriptors and open others with
 * their numbers. Closing the end for writing wakes the thread, too, which then opens another pipe;
 * nothing is ever written to or read from a descriptor that is not ours. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/fork.h"

typedef struct dn__bell {
        _Atomic uint64_t writer; /* the end for writing and, in the upper half, its inode */
        int read_fd;             /* -1: there is none */
        bool is_broken;          /* an end of it was closed by others */
        dn__fork_guard *read_guard;
        dn__fork_guard *write_guard;
} dn__bell;

/* Returns 0 or a negative errno. */
int dn__bell_init(dn__bell *bell);
void dn__bell_deinit(dn__bell *bell);

/* Makes the descriptor readable. Any thread. */
void dn__bell_ring(dn__bell *bell);

/* Returns the descriptor to poll for POLLIN, opening another pipe if it is broken; -1 if there is
 * none to be had. Call before looking for work. The sleeping thread. */
int dn__bell_prepare(dn__bell *bell);

/* Takes what poll() reported: silences the descriptor, or gives it up. The sleeping thread. */
void dn__bell_take(dn__bell *bell, short events);
