/* The lock beside the table: at most one agent holds it.
 *
 * It is the lock of an open file, which the kernel releases when the process ends. The file stays,
 * with the number of the process for display. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "center/own-table.h"

#define PREFIX "agent-"

int lock_find(char ret_path[PATH_MAX])
{
        char table[PATH_MAX];
        const char *slash;
        int r = dn__table_copy_path(table);

        if (r < 0)
                return r;
        slash = strrchr(table, '/');
        r = snprintf(ret_path, PATH_MAX, "%.*s/" PREFIX "%s", (int)(slash - table), table,
                     slash + 1);
        return r < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_at(int fd, const char *path)
{
        struct stat of_fd, of_path;

        return fd >= 0 && fstat(fd, &of_fd) == 0 && lstat(path, &of_path) == 0 &&
               of_fd.st_dev == of_path.st_dev && of_fd.st_ino == of_path.st_ino;
}

static void write_holder(int fd)
{
        char text[16];
        int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

        if (ftruncate(fd, 0) == 0)
                (void)!write(fd, text, (size_t)n);
}

/* Returns a descriptor or a negative errno. */
static int take(const char *path)
{
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int r = 0, fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

        if (fd < 0)
                return -errno;
        if (fcntl(fd, F_OFD_SETLK, &whole) < 0)
                r = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
        if (r == 0 && !is_at(fd, path))
                r = -ESTALE;
        if (r < 0) {
                (void)close(fd);
                return r;
        }
        write_holder(fd);
        return fd;
}

int lock_take(lock *lock)
{
        char path[PATH_MAX];
        int fd, r = lock_find(path);

        if (r < 0)
                return r;
        if (lock->fd >= 0 && strcmp(lock->path, path) == 0 && is_at(lock->fd, path))
                return 0;
        do
                fd = take(path);
        while (fd == -ESTALE);
        if (fd < 0)
                return fd;
        lock_release(lock);
        lock->fd = fd;
        (void)strcpy(lock->path, path);
        return 0;
}

int lock_probe(pid_t *ret_holder)
{
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        char path[PATH_MAX], text[16] = "";
        int fd, r = lock_find(path);

        if (r < 0)
                return r;
        fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = fcntl(fd, F_OFD_GETLK, &whole) < 0 ? -errno : 0;
        if (r == 0 && whole.l_type != F_UNLCK)
                (void)!pread(fd, text, sizeof(text) - 1, 0);
        (void)close(fd);
        if (r == 0)
                *ret_holder = atoi(text);
        return r;
}

void lock_release(lock *lock)
{
        if (lock->fd >= 0)
                (void)close(lock->fd);
        lock->fd = -1;
}
