/* Judges descriptors: whether one was refused, or is used again for another file. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Returns whether a descriptor refers to the file with this status: the host may close one that it
 * does not know. If the kernel does not say, it has not. */
static inline bool dn__descriptor_refers_to(int fd, const struct stat *file)
{
        struct stat found;

        if (fstat(fd, &found) < 0)
                return errno != EBADF;
        return found.st_dev == file->st_dev && found.st_ino == file->st_ino;
}

/* Returns why there is no new descriptor, as an error of error.h: a sandbox may refuse it with any
 * error. */
static inline int dn__descriptor_refused(void)
{
        return errno == ENOMEM || errno == ENFILE ? -errno : -EMFILE;
}
