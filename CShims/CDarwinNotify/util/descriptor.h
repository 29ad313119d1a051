/* Detects a reused descriptor: the host may close one that it does not know. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* Returns whether a descriptor refers to the file with this status. */
static inline bool dn__descriptor_refers_to(int fd, const struct stat *file)
{
        struct stat found;

        return fstat(fd, &found) == 0 && found.st_dev == file->st_dev &&
               found.st_ino == file->st_ino;
}
