/* A descriptor that wakes a thread that polls. */
#include "util/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "util/clock.h"

/* How often a thread looks for work whose bell was closed. */
#define BROKEN_US (100 * DN__US_PER_MS)

int dn__bell_init(dn__bell *bell)
{
        int fds[2];

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        *bell = (dn__bell){ fds[0], fds[1], dn__fork_guard_new(fds[0]), dn__fork_guard_new(fds[1]),
                            false };
        return 0;
}

void dn__bell_deinit(dn__bell *bell)
{
        bell->read_guard = dn__fork_guard_close(bell->read_guard, bell->read_fd);
        bell->write_guard = dn__fork_guard_close(bell->write_guard, bell->write_fd);
}

/* If it was closed, that has woken the thread. */
void dn__bell_ring(const dn__bell *bell)
{
        if (!atomic_load(&bell->is_broken) && dn__fork_guard_is_intact(bell->write_guard))
                (void)!write(bell->write_fd, "", 1);
}

int dn__bell_prepare(const dn__bell *bell, uint64_t *until_us)
{
        uint64_t soon_us;

        if (!atomic_load(&bell->is_broken))
                return bell->read_fd;
        soon_us = dn__clock_after_us(BROKEN_US);
        if (soon_us < *until_us)
                *until_us = soon_us;
        return -1;
}

void dn__bell_take(dn__bell *bell, short events)
{
        char bytes[64];

        if (!events)
                return;
        /* The end of a closed writer is an event, too. */
        if (events == POLLIN && dn__fork_guard_is_intact(bell->read_guard))
                (void)!read(bell->read_fd, bytes, sizeof(bytes));
        else
                atomic_store(&bell->is_broken, true);
}
