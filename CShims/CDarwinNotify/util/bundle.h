/* One descriptor for the host's event loop that stands for several, and for a deadline. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/bell.h"
#include "util/fork.h"

#define DN__BUNDLE_MAX_FDS 3

typedef struct dn__bundle {
        int fd;
        int timer_fd;
        dn__fork_guard *guard;
        dn__fork_guard *timer_guard;
        dn__bell bell;
        int added_fds[DN__BUNDLE_MAX_FDS]; /* or -1 */
} dn__bundle;

/* Returns 0 or -ENOMEM. */
int dn__bundle_init(dn__bundle *bundle);
void dn__bundle_deinit(dn__bundle *bundle);

/* Returns false if the host has closed one of its descriptors. */
bool dn__bundle_is_intact(const dn__bundle *bundle);

/* Replaces what makes it readable: descriptors, of which -1 is ignored, and a point in time; soon,
 * if the kernel has no room for a descriptor now. */
void dn__bundle_set(dn__bundle *bundle, const struct pollfd waits[DN__BUNDLE_MAX_FDS],
                    uint64_t until_us);

/* Makes it readable for good. Any thread. */
void dn__bundle_ring(dn__bundle *bundle);
