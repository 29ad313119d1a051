/* A descriptor that wakes a thread that polls. */
#include "util/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_WRITER UINT64_MAX

static uint64_t writer_of(int fd, ino_t inode)
{
        return (uint64_t)(uint32_t)inode << 32 | (uint32_t)fd;
}

int dn__bell_init(dn__bell *bell)
{
        struct stat status;
        int fds[2];

        /* Others may ring meanwhile, if it had another pipe before. */
        atomic_store(&bell->writer, NO_WRITER);
        bell->read_fd = -1;
        bell->is_broken = false;
        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        bell->read_fd = fds[0];
        bell->read_guard = dn__fork_guard_new(fds[0]);
        bell->write_guard = dn__fork_guard_new(fds[1]);
        (void)fstat(fds[1], &status);
        atomic_store(&bell->writer, writer_of(fds[1], status.st_ino));
        return 0;
}

void dn__bell_deinit(dn__bell *bell)
{
        uint64_t writer = atomic_exchange(&bell->writer, NO_WRITER);

        if (bell->read_fd < 0)
                return;
        bell->read_guard = dn__fork_guard_close(bell->read_guard, bell->read_fd);
        bell->write_guard = dn__fork_guard_close(bell->write_guard, (int)(uint32_t)writer);
        bell->read_fd = -1;
}

void dn__bell_ring(dn__bell *bell)
{
        uint64_t writer = atomic_load(&bell->writer);
        int fd = (int)(uint32_t)writer;
        struct stat status;

        /* If it was closed, that has woken the thread. */
        if (writer != NO_WRITER && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) &&
            writer_of(fd, status.st_ino) == writer)
                (void)!write(fd, "", 1);
}

int dn__bell_prepare(dn__bell *bell)
{
        if (bell->read_fd >= 0 && !bell->is_broken)
                return bell->read_fd;
        dn__bell_deinit(bell);
        (void)dn__bell_init(bell);
        return bell->read_fd;
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
                bell->is_broken = true;
}
