/* The table of one bus, mapped into this process. */
#include "shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/directory.h"
#include "util/hash.h"

/* Byte ranges that stand for the entries lie where the file has no bytes: a lock needs none. */
#define LOCK_OFFSET ((off_t)1 << 40)

static int lock_entry(int fd, unsigned process, int type, int command, struct flock *ret_lock)
{
        *ret_lock = (struct flock){
                .l_type = (short)type,
                .l_whence = SEEK_SET,
                .l_start = LOCK_OFFSET + process,
                .l_len = 1,
        };
        return fcntl(fd, command, ret_lock) < 0 ? -errno : 0;
}

bool dn__region_process_is_alive(const dn__region *region, unsigned process)
{
        struct flock lock;

        if (process == region->process)
                return true;
        /* In doubt it is alive: then nothing is taken from it. */
        return lock_entry(region->fd, process, F_WRLCK, F_OFD_GETLK, &lock) < 0 ||
               lock.l_type != F_UNLCK;
}

/* What a dead process left in our entry: what it held, and the sets it was changing. */
static void clear_entry(dn__region *region)
{
        dn__shm_table *table = region->table;

        for (size_t i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                atomic_store_explicit(&table->holders[region->process][i], 0,
                                      memory_order_relaxed);
        for (size_t i = 0; i < DN__SHM_N_SETS; i++) {
                uint64_t owner = (uint64_t)region->process + 1;

                (void)atomic_compare_exchange_strong(&table->owners[i], &owner, 0);
        }
}

static void raise_used(_Atomic uint64_t *n_used, uint64_t n)
{
        uint64_t found = atomic_load(n_used);

        while (found < n && !atomic_compare_exchange_weak(n_used, &found, n))
                continue;
}

static int take_entry(dn__region *region)
{
        struct flock lock;

        for (unsigned i = 0; i < DN__SHM_N_PROCESSES; i++) {
                if (lock_entry(region->fd, i, F_WRLCK, F_OFD_SETLK, &lock) < 0)
                        continue;
                region->process = i;
                clear_entry(region);
                raise_used(&region->table->n_processes_used, (uint64_t)i + 1);
                return 0;
        }
        return -ENOSPC;
}

static dn__shm_header expected_header(uint64_t id)
{
        return (dn__shm_header){
                .magic = DN__SHM_MAGIC,
                .version = DN__SHM_VERSION,
                .n_sets = DN__SHM_N_SETS,
                .slots_per_set = DN__SHM_SLOTS_PER_SET,
                .n_processes = DN__SHM_N_PROCESSES,
                .slot_bytes = sizeof(dn__shm_slot),
                .region = id,
        };
}

/* Makes the file under a name of its own, then gives it the real one: nobody sees half a table. */
static int make_file(int directory, const char *name)
{
        dn__shm_header header;
        char temporary[64];
        uint64_t id;
        int fd, r = 0;

        if (getrandom(&id, sizeof(id), 0) != sizeof(id))
                return -EIO;
        header = expected_header(id ? id : 1);
        (void)snprintf(temporary, sizeof(temporary), ".%s-%016llx", name,
                       (unsigned long long)header.region);
        fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        if (ftruncate(fd, sizeof(dn__shm_table)) < 0 ||
            pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
                r = -EIO;
        else if (linkat(directory, temporary, directory, name, 0) < 0 && errno != EEXIST)
                r = -errno;
        (void)unlinkat(directory, temporary, 0);
        (void)close(fd);
        return r;
}

static int open_file(const char *key)
{
        char name[40];
        int directory, fd, r;

        directory = dn__directory_open();
        if (directory < 0)
                return directory;
        (void)snprintf(name, sizeof(name), "table%d-%016llx", DN__SHM_VERSION,
                       (unsigned long long)dn__hash64(key, strlen(key)));
        fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                r = make_file(directory, name);
                fd = r < 0 ? r : openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
                if (r < 0)
                        errno = -r;
        }
        if (fd < 0)
                fd = -errno;
        (void)close(directory);
        return fd;
}

/* The header is read by a system call, before the mapping could fault on a file that is short. */
static int verify_file(int fd)
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

static int map_file(dn__region *region)
{
        void *memory;
        int r;

        r = verify_file(region->fd);
        if (r < 0)
                return r;
        memory = mmap(NULL, sizeof(dn__shm_table), PROT_READ | PROT_WRITE, MAP_SHARED, region->fd,
                      0);
        if (memory == MAP_FAILED)
                return -errno;
        region->table = memory;
        return take_entry(region);
}

int dn__region_open(const char *key, dn__region **ret_region)
{
        dn__region *region = calloc(1, sizeof(*region));
        int r;

        if (!region)
                return -ENOMEM;
        region->fd = open_file(key);
        if (region->fd < 0) {
                r = region->fd;
                free(region);
                return r;
        }
        dn__fork_guard(&region->fork_guard, region->fd);
        r = map_file(region);
        if (r < 0) {
                dn__region_close(region);
                return r;
        }
        *ret_region = region;
        return 0;
}

dn__region *dn__region_close(dn__region *region)
{
        if (!region)
                return NULL;
        if (region->table)
                (void)munmap(region->table, sizeof(dn__shm_table));
        dn__fork_release(&region->fork_guard);
        (void)close(region->fd);
        free(region);
        return NULL;
}
