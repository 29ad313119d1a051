/* The program that a process runs. */
#include "util/program.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Removes the suffix the kernel adds to a replaced executable's path. */
static void cut_deleted(char *path)
{
        char *suffix = strstr(path, " (deleted)");

        if (suffix && strcmp(suffix, " (deleted)") == 0)
                *suffix = '\0';
}

static char *find_own_name(int64_t pid)
{
        char path[64], name[64];
        FILE *file;
        bool is_read;

        (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", pid);
        file = fopen(path, "re");
        if (!file)
                return NULL;
        is_read = fgets(name, sizeof(name), file) != NULL;
        (void)fclose(file);
        if (is_read)
                name[strcspn(name, "\n")] = '\0';
        return is_read && name[0] ? strdup(name) : NULL;
}

char *dn__program_find(int64_t pid)
{
        char path[64], found[PATH_MAX + 1];
        ssize_t n;

        (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/exe", pid);
        n = readlink(path, found, sizeof(found) - 1);
        if (n <= 0)
                return find_own_name(pid);
        found[n] = '\0';
        cut_deleted(found);
        return strdup(basename(found));
}
