/* A descriptor that wakes a thread that polls.
 *
 * A pipe, since its ends are recognisable: the host may close all descriptors and open others with
 * their numbers, and nothing is ever written to or read from those. The pipe is not replaced: from
 * then on nobody can wake the thread, which looks for work by itself. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/fork.h"

typedef struct dn__bell {
        int read_fd;
        int write_fd;
        dn__fork_guard *read_guard;
        dn__fork_guard *write_guard;
        _Atomic bool is_broken; /* an end of it was closed by others */
} dn__bell;

/* Returns 0 or a negative errno. */
int dn__bell_init(dn__bell *bell);
void dn__bell_deinit(dn__bell *bell);

/* Makes the descriptor readable. Any thread. */
void dn__bell_ring(const dn__bell *bell);

/* Returns the descriptor to poll for POLLIN; or -1 if it is broken, and brings the time to wake up
 * forward. The sleeping thread. */
int dn__bell_prepare(const dn__bell *bell, uint64_t *until_us);

/* Takes what poll() reported. The sleeping thread. */
void dn__bell_take(dn__bell *bell, short events);
