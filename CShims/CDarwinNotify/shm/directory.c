/* The private directory that shared files of the user live in. */
#include "shm/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own_directory(const char *path)
{
        struct stat status;

        return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* Somebody else may have made it first, or put a link there: look at what was really opened. */
static int open_private(const char *path)
{
        struct stat status;
        int fd;

        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && !(status.st_mode & 077))
                return fd;
        (void)close(fd);
        return -EACCES;
}

int dn__directory_open(void)
{
        const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
        char path[PATH_MAX];
        int n;

        if (runtime && runtime[0] == '/' && is_own_directory(runtime))
                n = snprintf(path, sizeof(path), "%s/darwin-notify", runtime);
        else
                n = snprintf(path, sizeof(path), "/dev/shm/darwin-notify-%lu",
                             (unsigned long)geteuid());
        if (n < 0 || (size_t)n >= sizeof(path))
                return -ENAMETOOLONG;
        return open_private(path);
}
