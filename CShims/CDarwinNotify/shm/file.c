/* The file of a table: made, verified, removed. */
#include "shm/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/directory.h"
#include "shm/layout.h"
#include "util/hash.h"

#define NAME_BYTES 40

static void format_name(const char *key, char ret_name[NAME_BYTES])
{
        (void)snprintf(ret_name, NAME_BYTES, "table%d-%016llx", DN__SHM_VERSION,
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
        /* Not the function of POSIX, which writes where the file system cannot reserve. */
        return fallocate(fd, 0, (off_t)offset, (off_t)n_bytes) < 0 ? -errno : 0;
}

static int write_table(int fd, uint64_t region)
{
        dn__shm_header header = expected_header(region);

        int r;

        if (ftruncate(fd, sizeof(dn__shm_table)) < 0)
                return -errno;
        /* What everybody reads; the rest is reserved by who uses it. */
        r = dn__file_reserve(fd, 0, offsetof(dn__shm_table, holders));
        if (r < 0)
                return r;
        if (pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
                return -EIO;
        return 0;
}

/* Makes the file under a name of its own, then gives it the real one: nobody sees half a table. */
static int make(int directory, const char *name)
{
        char temporary[NAME_BYTES + 20];
        uint64_t region;
        int fd, r;

        do {
                if (getrandom(&region, sizeof(region), 0) != sizeof(region))
                        return -EIO;
        } while (region == 0);
        (void)snprintf(temporary, sizeof(temporary), ".%s-%016llx", name,
                       (unsigned long long)region);
        fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        r = write_table(fd, region);
        if (r == 0 && linkat(directory, temporary, directory, name, 0) < 0 && errno != EEXIST)
                r = -errno;
        (void)unlinkat(directory, temporary, 0);
        (void)close(fd);
        return r;
}

/* The header is read by a system call, before a mapping could fault on a file that is short. */
static int verify(int fd)
{
        dn__shm_header header, expected;
        struct stat status;

        if (fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
                return -EACCES;
        if (status.st_size != (off_t)sizeof(dn__shm_table) ||
            pread(fd, &header, sizeof(header), 0) != sizeof(header))
                return -EPROTO;
        expected = expected_header(header.region);
        if (memcmp(&header, &expected, sizeof(header)) != 0 || header.region == 0)
                return -EPROTO;
        return 0;
}

static int open_existing(int directory, const char *name)
{
        int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static int open_or_make(const char *name)
{
        int directory, fd, r;

        directory = dn__directory_open();
        if (directory < 0)
                return directory;
        fd = open_existing(directory, name);
        if (fd == -ENOENT) {
                r = make(directory, name);
                fd = r < 0 ? r : open_existing(directory, name);
        }
        (void)close(directory);
        return fd;
}

int dn__file_open(const char *key)
{
        char name[NAME_BYTES];
        int fd, r;

        format_name(key, name);
        fd = open_or_make(name);
        if (fd < 0)
                return fd;
        r = verify(fd);
        if (r == 0)
                return fd;
        (void)close(fd);
        return r;
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

/* The directory is looked for anew: if the environment has changed it may be another one. */
void dn__file_remove(int fd, const char *key)
{
        int directory = dn__directory_open(), found;
        char name[NAME_BYTES];

        if (directory < 0)
                return;
        format_name(key, name);
        found = open_existing(directory, name);
        if (found >= 0 && dn__file_is_same(fd, found))
                (void)unlinkat(directory, name, 0);
        if (found >= 0)
                (void)close(found);
        (void)close(directory);
}
