/* A descriptor that wakes a thread that polls. */
#include "util/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"

#define NO_WRITER UINT64_MAX

/* The numbers of the ends for reading. When poll() is woken it looks at the numbers again: if other
 * files had them by then it would sleep on. So the host does not soon give these away, nor do new
 * bells have those of old ones. */
#define READ_FD_MIN 512
#define N_READ_FDS 384

/* How many more times to look after the pipe was closed, and how soon. */
#define N_LOOKS 20
#define LOOK_US (50 * DN__US_PER_MS)

static uint64_t writer_of(int fd, ino_t inode)
{
        return (uint64_t)(uint32_t)inode << 32 | (uint32_t)fd;
}

/* Returns a descriptor with a high number in place of one, or that one if there is none. */
static int move_up(int fd)
{
        static _Atomic unsigned n_moved;
        unsigned place = atomic_fetch_add(&n_moved, 1) % N_READ_FDS;
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, READ_FD_MIN + (int)place);

        if (moved < 0)
                return fd;
        (void)close(fd);
        return moved;
}

static int open_pipe(dn__bell *bell)
{
        struct stat status;
        int fds[2];

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -ENOMEM;
        fds[0] = move_up(fds[0]);
        bell->read_fd = fds[0];
        bell->read_guard = dn__fork_guard_new(fds[0]);
        bell->write_guard = dn__fork_guard_new(fds[1]);
        (void)fstat(fds[1], &status);
        atomic_store(&bell->writer, writer_of(fds[1], status.st_ino));
        return 0;
}

int dn__bell_init(dn__bell *bell)
{
        int r;

        *bell = (dn__bell){ .read_fd = -1 };
        atomic_init(&bell->writer, NO_WRITER);
        dn__fork_hold_off();
        r = open_pipe(bell);
        dn__fork_let_go();
        return r;
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
        if (bell->read_fd >= 0 && dn__fork_guard_is_intact(bell->read_guard) &&
            dn__fork_guard_is_intact(bell->write_guard))
                return bell->read_fd;
        dn__bell_deinit(bell);
        (void)dn__bell_init(bell);
        bell->n_looks = N_LOOKS;
        return bell->read_fd;
}

uint64_t dn__bell_limit(dn__bell *bell, uint64_t until_us)
{
        uint64_t soon_us;

        if (bell->n_looks == 0)
                return until_us;
        bell->n_looks--;
        soon_us = dn__clock_after_us(LOOK_US);
        return soon_us < until_us ? soon_us : until_us;
}

void dn__bell_take(dn__bell *bell, short events)
{
        char bytes[64];

        if (events & POLLIN && dn__fork_guard_is_intact(bell->read_guard))
                (void)!read(bell->read_fd, bytes, sizeof(bytes));
}
