/* statx() for a C library that lacks it, as musl does before 1.2.5. */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#ifndef STATX_BASIC_STATS
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int statx(int directory, const char *path, int flags, unsigned mask,
                        struct statx *ret_status)
{
        return (int)syscall(SYS_statx, directory, path, flags, mask, ret_status);
}
#endif
