/* Combines a descriptor and a deadline into one pollable descriptor for the host's event loop. */
#pragma once

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/fork.h"

typedef struct dn__bundle {
        int fd;
        int timer_fd;
        dn__fork_guard *guard;
        dn__fork_guard *timer_guard;
        _Atomic bool is_rung;
        int added_fd; /* or -1 */
} dn__bundle;

/* Returns 0 or a negative errno. */
int dn__bundle_init(dn__bundle *bundle);
void dn__bundle_deinit(dn__bundle *bundle);

/* Replaces the two conditions under which it is readable: a descriptor, or -1, and a point in time;
 * soon, if the kernel has no room for the descriptor now. */
void dn__bundle_set(dn__bundle *bundle, const struct pollfd *wait, uint64_t until_us);

/* Makes it readable for good. Any thread. */
void dn__bundle_ring(dn__bundle *bundle);
