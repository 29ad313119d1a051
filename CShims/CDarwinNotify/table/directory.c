/* The directories in which the table of a user may be. */
#include "table/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/failure.h"

/* In /dev/shm anyone may have taken a name, deliberately, or as root in a user namespace or under
 * fakeroot, so there are several. */
enum { BESIDE_SOCKET = 1, OF_ENVIRONMENT, OF_USER, IN_MEMORY, LAST = IN_MEMORY + 3 };

static bool format_beside_socket(const char *key, char ret_path[PATH_MAX])
{
        static const char prefix[] = "unix:path=";
        const char *path = key + strlen(prefix);

        if (strncmp(key, prefix, strlen(prefix)) != 0 || *path != '/' || strpbrk(path, "%,;"))
                return false;
        return snprintf(ret_path, PATH_MAX, "%.*s/darwin-notify",
                        (int)(strrchr(path, '/') - path), path) < PATH_MAX;
}

/* Returns false if there is no such directory for the key. */
static bool format_choice(const char *key, unsigned choice, uid_t user, char ret_path[PATH_MAX])
{
        const char *runtime;

        switch (choice) {
        case BESIDE_SOCKET:
                return format_beside_socket(key, ret_path);
        case OF_ENVIRONMENT:
                runtime = secure_getenv("XDG_RUNTIME_DIR");
                return runtime && runtime[0] == '/' &&
                       snprintf(ret_path, PATH_MAX, "%s/darwin-notify", runtime) < PATH_MAX;
        case OF_USER:
                return snprintf(ret_path, PATH_MAX, "/run/user/%u/darwin-notify", user) > 0;
        case IN_MEMORY:
                return snprintf(ret_path, PATH_MAX, "/dev/shm/darwin-notify-%u", user) > 0;
        default:
                return snprintf(ret_path, PATH_MAX, "/dev/shm/darwin-notify-%u.%u", user,
                                choice - IN_MEMORY) > 0;
        }
}

/* Returns whether an earlier choice is the same directory. */
static bool is_repeated(const dn__directory *directory, const char *key)
{
        char earlier[PATH_MAX];

        for (unsigned i = 1; directory->choice < IN_MEMORY && i < directory->choice; i++)
                if (format_choice(key, i, directory->user, earlier) &&
                    strcmp(earlier, directory->path) == 0)
                        return true;
        return false;
}

bool dn__directory_next(dn__directory *directory, const char *key)
{
        while (directory->choice < LAST) {
                directory->choice++;
                if (format_choice(key, directory->choice, directory->user, directory->path) &&
                    !is_repeated(directory, key) &&
                    strlen(directory->path) + DN__DIRECTORY_NAME_BYTES < PATH_MAX)
                        return true;
        }
        return false;
}

bool dn__directory_is_public(const dn__directory *directory)
{
        return directory->choice >= IN_MEMORY;
}

/* In a public place only the directory itself is checked. */
static bool has_private_parent(const dn__directory *directory)
{
        mode_t forbidden = directory->choice == BESIDE_SOCKET ? 077 : 0;
        char copy[PATH_MAX];
        struct stat status;

        if (dn__directory_is_public(directory))
                return true;
        return stat(dirname(strcpy(copy, directory->path)), &status) == 0 &&
               S_ISDIR(status.st_mode) && status.st_uid == directory->user &&
               !(status.st_mode & forbidden);
}

bool dn__directory_is_usable(const dn__directory *directory)
{
        struct stat status;

        return lstat(directory->path, &status) == 0 && S_ISDIR(status.st_mode) &&
               status.st_uid == directory->user && has_private_parent(directory);
}

/* Another user may have created it first, or put a link there: checks what was actually opened. */
int dn__directory_open(const dn__directory *directory, bool may_make)
{
        int fd DN__CLOSES = -1;
        struct stat status;

        if (!has_private_parent(directory))
                return -EACCES;
        if (may_make && mkdir(directory->path, 0700) < 0 && errno != EEXIST)
                return dn__failed("mkdir");
        fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ELOOP || errno == ENOTDIR ? -EACCES : dn__failed("open");
        if (fstat(fd, &status) == 0 && status.st_uid == directory->user &&
            (!(status.st_mode & 077) || fchmod(fd, 0700) == 0))
                return DN__TAKE_DESCRIPTOR(fd);
        return -EACCES;
}
