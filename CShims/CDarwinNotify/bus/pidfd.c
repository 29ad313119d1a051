/* Finds descriptors of processes. */
#include "bus/pidfd.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_pidfd(int directory, const char *name)
{
        char target[64];
        ssize_t n = readlinkat(directory, name, target, sizeof(target) - 1);

        if (n <= 0 || target[0] == '/')
                return false;
        target[n] = '\0';
        return strstr(target, "pidfd");
}

dn__pidfds dn__pidfds_list(void)
{
        DIR *stream = opendir("/proc/self/fd");
        dn__pidfds list = { 0 };
        struct dirent *entry;

        while (stream && (entry = readdir(stream))) {
                unsigned long fd = strtoul(entry->d_name, NULL, 10);

                if (fd < DN__PIDFDS_MAX && is_pidfd(dirfd(stream), entry->d_name))
                        list.bits[fd / 64] |= UINT64_C(1) << fd % 64;
        }
        if (stream)
                (void)closedir(stream);
        return list;
}

int dn__pidfds_next_new(const dn__pidfds *before, const dn__pidfds *now, int fd)
{
        for (fd++; fd < DN__PIDFDS_MAX; fd++)
                if ((now->bits[fd / 64] & ~before->bits[fd / 64]) >> fd % 64 & 1)
                        return fd;
        return -1;
}
