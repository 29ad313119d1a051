/* Claims on the entries of a table, released by the kernel when a process dies. */
#include "shm/claim.h"

#include <errno.h>
#include <fcntl.h>

/* The locked bytes lie beyond the end of the file: a lock needs no data there. */
#define LOCK_OFFSET ((off_t)1 << 40)

static int lock(int fd, int command, int type, unsigned first, unsigned n, struct flock *ret_lock)
{
        *ret_lock = (struct flock){
                .l_type = (short)type,
                .l_whence = SEEK_SET,
                .l_start = LOCK_OFFSET + first,
                .l_len = n,
        };
        return fcntl(fd, command, ret_lock) < 0 ? -errno : 0;
}

int dn__claim_take(int fd, unsigned first, unsigned n)
{
        struct flock taken;

        return lock(fd, F_OFD_SETLK, F_WRLCK, first, n, &taken);
}

void dn__claim_release(int fd, unsigned first, unsigned n)
{
        struct flock released;

        (void)lock(fd, F_OFD_SETLK, F_UNLCK, first, n, &released);
}

bool dn__claim_is_taken(int fd, unsigned entry)
{
        struct flock found;

        return lock(fd, F_OFD_GETLK, F_WRLCK, entry, 1, &found) < 0 || found.l_type != F_UNLCK;
}

bool dn__claim_is_of_one(int fd, unsigned n)
{
        struct flock found;

        return lock(fd, F_OFD_GETLK, F_WRLCK, 0, n, &found) == 0 && found.l_type != F_UNLCK &&
               found.l_start == LOCK_OFFSET && (found.l_len == 0 || found.l_len >= (off_t)n);
}
