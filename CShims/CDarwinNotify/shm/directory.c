/* The user's private directory for shared files. */
#include "shm/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIX_PATH "unix:path="

/* Number of names to try in /dev/shm, where anyone may have created one first. */
#define N_NAMES 64

/* No process of this user can have its directory there; all of them try the next place. */
static bool is_unusable(int r)
{
        return r == -EACCES || r == -EPERM || r == -EROFS || r == -ENAMETOOLONG;
}

static bool is_own_directory(const char *path, mode_t forbidden)
{
        struct stat status;

        return path[0] == '/' && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
               status.st_uid == geteuid() && !(status.st_mode & forbidden);
}

/* Somebody else may have created it first, or placed a link there: check what was actually
 * opened. */
static int open_private(const char *path, bool may_make)
{
        struct stat status;
        int fd;

        if (may_make && mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ELOOP || errno == ENOTDIR ? -EACCES : -errno;
        if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
            (!(status.st_mode & 077) || fchmod(fd, 0700) == 0))
                return fd;
        (void)close(fd);
        return -EACCES;
}

static int open_in(const char *place, mode_t forbidden, char ret_path[PATH_MAX])
{
        int n;

        if (!place || !is_own_directory(place, forbidden))
                return -EACCES;
        n = snprintf(ret_path, PATH_MAX, "%s/darwin-notify", place);
        return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : open_private(ret_path, true);
}

static int open_beside_socket(const char *key, char ret_path[PATH_MAX])
{
        char place[PATH_MAX];
        const char *path, *end;

        if (strncmp(key, UNIX_PATH, strlen(UNIX_PATH)) != 0)
                return -EACCES;
        path = key + strlen(UNIX_PATH);
        end = strrchr(path, '/');
        if (!end || (size_t)(end - path) >= sizeof(place) || strpbrk(path, "%,;"))
                return -EACCES;
        memcpy(place, path, (size_t)(end - path));
        place[end - path] = '\0';
        return open_in(place, 077, ret_path);
}

static int open_of_user(char ret_path[PATH_MAX])
{
        char place[64];

        (void)snprintf(place, sizeof(place), "/run/user/%lu", (unsigned long)geteuid());
        return open_in(place, 0, ret_path);
}

static int open_numbered(unsigned number, bool may_make, char ret_path[PATH_MAX])
{
        int n = snprintf(ret_path, PATH_MAX, "/dev/shm/darwin-notify-%lu",
                         (unsigned long)geteuid());

        if (number)
                (void)snprintf(ret_path + n, (size_t)(PATH_MAX - n), ".%u", number);
        return open_private(ret_path, may_make);
}

/* An existing directory of ours is preferred: its processes stay there even if an earlier name has
 * become free. */
static int open_in_memory(char ret_path[PATH_MAX])
{
        int r = -EACCES;

        for (unsigned i = 0; i < N_NAMES; i++) {
                r = open_numbered(i, false, ret_path);
                if (r != -EACCES && r != -ENOENT)
                        return r;
        }
        for (unsigned i = 0; i < N_NAMES; i++) {
                r = open_numbered(i, true, ret_path);
                if (r != -EACCES)
                        return r;
        }
        return r;
}

int dn__directory_open(const char *key, char ret_path[PATH_MAX])
{
        int r = open_beside_socket(key, ret_path);

        if (is_unusable(r))
                r = open_in(secure_getenv("XDG_RUNTIME_DIR"), 0, ret_path);
        if (is_unusable(r))
                r = open_of_user(ret_path);
        if (is_unusable(r))
                r = open_in_memory(ret_path);
        return r;
}
