/* The file of a table: creates, verifies and removes it. */
#include "shm/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/claim.h"
#include "shm/directory.h"
#include "shm/layout.h"
#include "util/hash.h"

#define PREFIX "table"
#define NAME_BYTES 40
#define TEMPORARY_BYTES 40

/* The sticky bit protects it from age-based cleanup, as the XDG_RUNTIME_DIR specification
 * provides. */
#define MODE 01600

/* How often to start over when others create, remove or damage the file concurrently. */
#define N_ATTEMPTS 16

static void format_name(const char *key, char ret_name[NAME_BYTES])
{
        (void)snprintf(ret_name, NAME_BYTES, PREFIX "%d-%016llx", DN__SHM_VERSION,
                       (unsigned long long)dn__hash64(key, strlen(key)));
}

static dn__shm_header expected_header(uint64_t region)
{
        return (dn__shm_header){
                .magic = DN__SHM_MAGIC,
                .version = DN__SHM_VERSION,
                .n_sets = DN__SHM_N_SETS,
                .slots_per_set = DN__SHM_SLOTS_PER_SET,
                .n_processes = DN__SHM_N_PROCESSES,
                .slot_bytes = sizeof(dn__shm_slot),
                .region = region,
        };
}

int dn__file_reserve(int fd, size_t offset, size_t n_bytes)
{
        /* Not posix_fallocate(), which writes if the file system cannot reserve. */
        return fallocate(fd, 0, (off_t)offset, (off_t)n_bytes) < 0 ? -errno : 0;
}

/* Exceeding a file size limit would kill the process with a signal. */
static bool is_allowed_size(size_t n_bytes)
{
        struct rlimit limit;

        return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
               limit.rlim_cur >= n_bytes;
}

static int write_table(int fd, uint64_t region)
{
        dn__shm_header header = expected_header(region);
        int r;

        if (!is_allowed_size(sizeof(dn__shm_table)))
                return -EFBIG;
        if (ftruncate(fd, sizeof(dn__shm_table)) < 0)
                return -errno;
        /* The part everyone reads; the rest is reserved by its users. */
        r = dn__file_reserve(fd, 0, offsetof(dn__shm_table, processes));
        if (r < 0)
                return r;
        if (pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
                return -EIO;
        return fchmod(fd, MODE) < 0 ? -errno : 0;
}

static uint64_t draw(void)
{
        uint64_t drawn = 0;

        while (drawn == 0)
                if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
                        return 1 + (uint64_t)getpid();
        return drawn;
}

static void format_temporary(char ret_name[TEMPORARY_BYTES])
{
        (void)snprintf(ret_name, TEMPORARY_BYTES, "." PREFIX "-%016llx",
                       (unsigned long long)draw());
}

/* Creates the file under a temporary name, then renames it: nobody sees a partial table. Returns
 * -ENOENT if somebody took it for a leftover before it was claimed. */
static int make(int directory, const char *name)
{
        char temporary[TEMPORARY_BYTES];
        int fd, r;

        format_temporary(temporary);
        fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        (void)dn__claim_take(fd, DN__CLAIM_ALL);
        r = write_table(fd, draw());
        if (r == 0 && linkat(directory, temporary, directory, name, 0) < 0 && errno != EEXIST)
                r = -errno;
        (void)unlinkat(directory, temporary, 0);
        (void)close(fd);
        return r;
}

/* --- Cleanup ------------------------------------------------------------------------------- */

/* Removes a file without claims. A process opening it meanwhile notices, as with a file removed by
 * its last user. */
static void remove_if_unused(int directory, const char *name)
{
        int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
                return;
        if (dn__claim_take(fd, DN__CLAIM_ALL) == 0)
                (void)unlinkat(directory, name, 0);
        (void)close(fd);
}

/* Removes the leftovers of killed processes: tables of any bus and version, complete or partial. */
static void tidy(int directory)
{
        int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        if (!stream && fd >= 0)
                (void)close(fd);
        while (stream && (entry = readdir(stream))) {
                const char *name = entry->d_name + (entry->d_name[0] == '.');

                if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
                        remove_if_unused(directory, entry->d_name);
        }
        if (stream)
                (void)closedir(stream);
}

/* Moves an invalid table out of the way: nobody can use it, and processes that have it mapped
 * notice that it is gone. If another process has replaced it already, its table is put back. */
static void put_aside(int directory, const char *name, const struct stat *judged)
{
        char temporary[TEMPORARY_BYTES];
        struct stat status;

        format_temporary(temporary);
        if (renameat(directory, name, directory, temporary) < 0)
                return;
        if (fstatat(directory, temporary, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            (status.st_dev != judged->st_dev || status.st_ino != judged->st_ino)) {
                int r = linkat(directory, temporary, directory, name, 0);

                (void)r; /* a third process has already created the next one */
        }
        if (unlinkat(directory, temporary, 0) < 0)
                (void)unlinkat(directory, temporary, AT_REMOVEDIR);
}

/* --- Opening ------------------------------------------------------------------------------- */

/* Reads the header with a system call, because accessing a mapping of a short file would fault. */
static bool is_table(int fd, const struct stat *status)
{
        dn__shm_header header, expected;

        if (!S_ISREG(status->st_mode) || status->st_uid != geteuid() ||
            status->st_size != (off_t)sizeof(dn__shm_table) ||
            pread(fd, &header, sizeof(header), 0) != sizeof(header))
                return false;
        expected = expected_header(header.region);
        return memcmp(&header, &expected, sizeof(header)) == 0 && header.region != 0;
}

/* Returns whether a path that could not be opened is not a file or not accessible: then no process
 * can have it open. */
static bool is_inaccessible(int error)
{
        return error == ELOOP || error == EISDIR || error == EACCES || error == ENXIO ||
               error == ENODEV;
}

/* Returns a descriptor, or a negative errno; -ENOENT if the file must be created. */
static int open_existing(int directory, const char *name)
{
        int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        int error = fd < 0 ? errno : 0;
        struct stat status;

        if (fd < 0 && !is_inaccessible(error))
                return -error;
        if (fd < 0 ? fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0
                   : fstat(fd, &status) < 0)
                error = errno;
        else if (fd < 0 || !is_table(fd, &status))
                put_aside(directory, name, &status);
        else if ((status.st_mode & 07777) == MODE || fchmod(fd, MODE) == 0)
                return fd;
        else
                error = errno;
        if (fd >= 0)
                (void)close(fd);
        return error && !is_inaccessible(error) ? -error : -ENOENT;
}

static int open_or_make(int directory, const char *name)
{
        int fd, r = 0;

        for (int i = 0; i < N_ATTEMPTS && (r == 0 || r == -ENOENT); i++) {
                fd = open_existing(directory, name);
                if (fd != -ENOENT)
                        return fd;
                tidy(directory);
                r = make(directory, name);
        }
        return r < 0 ? r : -EPROTO;
}

int dn__file_open(const char *key, char ret_path[PATH_MAX])
{
        int directory = dn__directory_open(key, ret_path), fd;
        size_t n_bytes;

        if (directory < 0)
                return directory;
        n_bytes = strlen(ret_path);
        if (n_bytes + 1 + NAME_BYTES > PATH_MAX) {
                (void)close(directory);
                return -ENAMETOOLONG;
        }
        ret_path[n_bytes] = '/';
        format_name(key, ret_path + n_bytes + 1);
        fd = open_or_make(directory, ret_path + n_bytes + 1);
        (void)close(directory);
        return fd;
}

bool dn__file_is_removed(int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_nlink == 0;
}

bool dn__file_is_same(int a, int b)
{
        struct stat of_a, of_b;

        return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
               of_a.st_ino == of_b.st_ino;
}

bool dn__file_is_in_place(const struct stat *file, const char *path)
{
        struct stat found;

        return stat(path, &found) == 0 && found.st_dev == file->st_dev &&
               found.st_ino == file->st_ino && found.st_size == (off_t)sizeof(dn__shm_table);
}

void dn__file_remove(const struct stat *file, const char *path)
{
        if (dn__file_is_in_place(file, path))
                (void)unlink(path);
}
