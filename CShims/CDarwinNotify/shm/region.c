/* The table of one bus, mapped into this process. */
#include "shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "shm/file.h"

/* The bytes that stand for the entries lie where the file has none: a lock needs none. */
#define LOCK_OFFSET ((off_t)1 << 40)

/* A process is alive when it has locked its second byte, too: by then it has cleared what a dead
 * one had left in the entry. */
#define ALIVE_OFFSET DN__SHM_N_PROCESSES

/* A table may be removed by its last user while we open it: then another one is opened. */
#define N_ATTEMPTS 100

static int lock_entries(int fd, unsigned first, unsigned n, int type, int command,
                        struct flock *ret_lock)
{
        *ret_lock = (struct flock){
                .l_type = (short)type,
                .l_whence = SEEK_SET,
                .l_start = LOCK_OFFSET + first,
                .l_len = n,
        };
        return fcntl(fd, command, ret_lock) < 0 ? -errno : 0;
}

bool dn__region_process_is_alive(const dn__region *region, unsigned process)
{
        struct flock lock;

        if (process == region->process)
                return true;
        /* In doubt it is alive: then nothing is taken from it. */
        return lock_entries(region->fd, ALIVE_OFFSET + process, 1, F_WRLCK, F_OFD_GETLK,
                            &lock) < 0 ||
               lock.l_type != F_UNLCK;
}

static void raise_used(_Atomic uint64_t *n_used, uint64_t n)
{
        uint64_t found = atomic_load(n_used);

        while (found < n && !atomic_compare_exchange_weak(n_used, &found, n))
                continue;
}

/* Clears what a dead process left in our entry: what it held, and the sets it was changing. */
static int begin_entry(dn__region *region)
{
        dn__shm_table *table = region->table;
        struct flock lock;

        for (size_t i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                atomic_store_explicit(&table->holders[region->process][i], 0,
                                      memory_order_relaxed);
        for (size_t i = 0; i < DN__SHM_N_SETS; i++) {
                uint64_t owner = atomic_load(&table->owners[i]);

                if (dn__shm_owner_process(owner) == region->process)
                        (void)atomic_compare_exchange_strong(&table->owners[i], &owner, 0);
        }
        atomic_store(&table->pids[region->process], (uint64_t)getpid());
        raise_used(&table->n_processes_used, (uint64_t)region->process + 1);
        return lock_entries(region->fd, ALIVE_OFFSET + region->process, 1, F_WRLCK, F_OFD_SETLK,
                            &lock);
}

static int take_entry(dn__region *region)
{
        struct flock lock;

        for (unsigned i = 0; i < DN__SHM_N_PROCESSES; i++) {
                if (lock_entries(region->fd, i, 1, F_WRLCK, F_OFD_SETLK, &lock) < 0)
                        continue;
                region->process = i;
                return 0;
        }
        return -ENOSPC;
}

/* Returns -ENOENT if the file went away meanwhile. */
static int open_entry(dn__region *region)
{
        int r;

        region->fd = dn__file_open(region->key);
        if (region->fd < 0)
                return region->fd;
        r = take_entry(region);
        if (dn__file_is_removed(region->fd))
                r = -ENOENT;
        if (r < 0)
                (void)close(region->fd);
        return r;
}

/* A mapping keeps its open file description, and so the locks of that, alive, in forked children
 * too: it has one of its own. While we have an entry the file stays, so it is the same file. */
static int map(dn__region *region)
{
        void *memory;
        int fd, r = 0;

        fd = dn__file_open(region->key);
        if (fd < 0)
                return fd;
        if (!dn__file_is_same(fd, region->fd))
                r = -EPROTO;
        if (r == 0) {
                memory = mmap(NULL, sizeof(dn__shm_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                              0);
                if (memory == MAP_FAILED)
                        r = -errno;
                else
                        region->table = memory;
        }
        (void)close(fd);
        return r;
}

static int reserve_entry(const dn__region *region)
{
        size_t n_bytes = sizeof(region->table->holders[0]);

        return dn__file_reserve(region->fd,
                                offsetof(dn__shm_table, holders) + region->process * n_bytes,
                                n_bytes);
}

static int open_and_map(dn__region *region)
{
        uint64_t serial = 0;
        int r, n = 0;

        /* While the last user removes it, all entries are locked. */
        while (((r = open_entry(region)) == -ENOENT || r == -ENOSPC) && ++n < N_ATTEMPTS)
                (void)sched_yield();
        if (r < 0)
                return r;
        (void)getrandom(&serial, sizeof(serial), 0);
        region->owner = serial << 16 | (region->process + 1);
        r = reserve_entry(region);
        if (r == 0)
                r = map(region);
        if (r == 0) {
                r = begin_entry(region);
                if (r < 0)
                        (void)munmap(region->table, sizeof(dn__shm_table));
        }
        if (r < 0)
                (void)close(region->fd);
        return r;
}

int dn__region_open(const char *key, dn__region **ret_region)
{
        dn__region *region = calloc(1, sizeof(*region) + strlen(key) + 1);
        int r;

        if (!region)
                return -ENOMEM;
        strcpy(region->key, key);
        r = open_and_map(region);
        if (r < 0) {
                free(region);
                return r;
        }
        region->fork_guard = dn__fork_guard_new(region->fd);
        *ret_region = region;
        return 0;
}

dn__region *dn__region_close(dn__region *region)
{
        if (!region)
                return NULL;
        (void)munmap(region->table, sizeof(dn__shm_table));
        (void)dn__fork_guard_free(region->fork_guard);
        (void)close(region->fd);
        free(region);
        return NULL;
}

void dn__region_remove_if_last(dn__region *region)
{
        unsigned n_above = DN__SHM_N_PROCESSES - region->process - 1;
        struct flock lock;

        /* Who holds all entries is alone: nobody else can enter until the file is gone. */
        if (lock_entries(region->fd, 0, DN__SHM_N_PROCESSES, F_WRLCK, F_OFD_SETLK, &lock) < 0)
                return;
        dn__file_remove(region->fd, region->key);
        if (region->process)
                (void)lock_entries(region->fd, 0, region->process, F_UNLCK, F_OFD_SETLK, &lock);
        if (n_above)
                (void)lock_entries(region->fd, region->process + 1, n_above, F_UNLCK, F_OFD_SETLK,
                                   &lock);
}
