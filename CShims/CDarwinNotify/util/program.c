/* The program that a process runs. */
#include "util/program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fork.h"

/* Returns the number of bytes, or a negative number. */
static ssize_t read_bytes(const char *path, char *ret_bytes, size_t n_bytes)
{
        ssize_t n = -1;
        int fd;

        dn__fork_hold_off();
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
                n = read(fd, ret_bytes, n_bytes);
                (void)close(fd);
        }
        dn__fork_let_go();
        return n;
}

/* Removes the suffix the kernel adds to a replaced executable's path. */
static void cut_deleted(char *path)
{
        static const char deleted[] = " (deleted)";
        size_t n_bytes = strlen(path), n_deleted_bytes = sizeof(deleted) - 1;

        if (n_bytes > n_deleted_bytes && strcmp(path + n_bytes - n_deleted_bytes, deleted) == 0)
                path[n_bytes - n_deleted_bytes] = '\0';
}

char *dn__program_find(int64_t pid)
{
        char path[64], found[PATH_MAX + 1], *slash;
        ssize_t n;

        (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/exe", pid);
        n = readlink(path, found, sizeof(found) - 1);
        if (n > 0) {
                found[n] = '\0';
                cut_deleted(found);
                slash = strrchr(found, '/');
                return strdup(slash ? slash + 1 : found);
        }
        (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", pid);
        n = read_bytes(path, found, sizeof(found) - 1);
        if (n <= 1)
                return NULL;
        found[n - 1] = '\0'; /* it ends with a newline */
        return strdup(found);
}
