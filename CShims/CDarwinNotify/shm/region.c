/* The table of one bus, mapped into this process. */
#include "shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/claim.h"
#include "shm/file.h"
#include "util/clock.h"
#include "util/wake.h"

/* A process counts as alive once it has locked its second byte too: by then it has cleared what the
 * entry's previous process left. */
#define ALIVE_OFFSET DN__SHM_N_PROCESSES

/* The processes that watch over the file of a table have locked one of these bytes. */
#define KEEPER_OFFSET (2 * DN__SHM_N_PROCESSES)
#define N_KEEPERS 4

/* How many of the tables that were left stay readable. */
#define N_LEFT 8

/* A table may be removed by its last user while we open it: then open another. That user may have
 * lost its processor in the middle. */
#define N_ATTEMPTS 500
#define PAUSE_US 2000

bool dn__region_process_is_alive(const dn__region *region, unsigned process)
{
        /* In doubt a process counts as alive: nothing is taken from it. */
        return process == region->process ||
               dn__claim_is_taken(dn__region_get_fd(region), ALIVE_OFFSET + process);
}

static void raise_used(_Atomic uint64_t *n_used, uint64_t n)
{
        uint64_t found = atomic_load(n_used);

        while (found < n && !atomic_compare_exchange_weak(n_used, &found, n))
                continue;
}

/* Nobody holds a slot without a tag: its holders are cleared when it is named. */
static void clear_block(dn__shm_table *table, unsigned process, size_t block)
{
        for (size_t i = block * 64; i < (block + 1) * 64; i++)
                if (atomic_load(&table->tags[i]))
                        atomic_fetch_and(&table->slots[i].holders[process / 64],
                                         ~(UINT64_C(1) << process % 64));
}

static void clear_held(dn__shm_table *table, unsigned process)
{
        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++) {
                _Atomic uint64_t *held = &table->processes[process].held[i];
                uint64_t blocks = atomic_load(held);

                for (; blocks; blocks &= blocks - 1)
                        clear_block(table, process, i * 64 + (size_t)__builtin_ctzll(blocks));
                atomic_store(held, 0);
        }
}

/* Marking stopped when the holders were cleared, except by a process in the middle of it: the names
 * it marks are not ours or have a post that we have not seen. */
static void clear_marks(dn__shm_table *table, unsigned process)
{
        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++)
                atomic_store(&table->processes[process].marked[i], 0);
        for (size_t i = 0; i < DN__SHM_MARK_WORDS; i++)
                atomic_store_explicit(&table->marks[process][i], 0, memory_order_relaxed);
        dn__wake_begin(&table->processes[process].wake);
}

static void clear_owned_sets(dn__shm_table *table, unsigned process)
{
        for (size_t i = 0; i < DN__SHM_N_SETS; i++) {
                uint64_t owner = atomic_load(&table->owners[i]);

                if (dn__shm_owner_process(owner) == process)
                        (void)atomic_compare_exchange_strong(&table->owners[i], &owner, 0);
        }
}

/* Clears what a dead process left in our entry, then marks the entry as alive. */
static int begin_entry(dn__region *region)
{
        dn__shm_table *table = region->table;

        region->id = table->header.region;
        atomic_fetch_and(&table->watchers[region->process / 64],
                         ~(UINT64_C(1) << region->process % 64));
        clear_held(table, region->process);
        clear_marks(table, region->process);
        clear_owned_sets(table, region->process);
        atomic_store(&table->processes[region->process].pid, (uint64_t)getpid());
        raise_used(&table->n_processes_used, (uint64_t)region->process + 1);
        return dn__claim_take(region->fd, ALIVE_OFFSET + region->process, 1);
}

/* Returns -ENOENT if the last user has all entries and is about to remove the file. */
static int take_entry(dn__region *region)
{
        for (unsigned i = 0; i < DN__SHM_N_PROCESSES; i++) {
                if (dn__claim_take(region->fd, i, 1) < 0)
                        continue;
                region->process = i;
                return 0;
        }
        return dn__claim_is_of_one(region->fd, DN__SHM_N_PROCESSES) ? -ENOENT : -EUSERS;
}

/* A mapping keeps its open file description and the claims on it alive, even in forked children: so
 * it uses its own description. Returns -ENOENT if that refers to another file already. */
static int map(dn__region *region)
{
        char path[PATH_MAX];
        void *memory;
        int fd, r = 0;

        fd = dn__file_open(region->key, path);
        if (fd < 0)
                return fd;
        memory = mmap(NULL, sizeof(dn__shm_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) {
                r = -errno;
        } else if (!dn__file_is_same(fd, region->fd)) {
                (void)munmap(memory, sizeof(dn__shm_table));
                r = -ENOENT;
        } else {
                /* In a directory on a disk, reading a page would also read its neighbours. */
                (void)madvise(memory, sizeof(dn__shm_table), MADV_RANDOM);
                region->table = memory;
        }
        (void)close(fd);
        return r;
}

/* A mapping of the description that has the claims, so that they outlast a host that closes all
 * descriptors. A forked child does not inherit it. */
static int drop_anchor(dn__region *region)
{
        void *anchor = mmap(NULL, DN__SHM_PAGE_BYTES, PROT_NONE, MAP_SHARED, region->fd, 0);

        if (anchor == MAP_FAILED)
                return -errno;
        if (madvise(anchor, DN__SHM_PAGE_BYTES, MADV_DONTFORK) == 0) {
                region->anchor = anchor;
                return 0;
        }
        (void)munmap(anchor, DN__SHM_PAGE_BYTES);
        return -EIO;
}

static void weigh_anchor(dn__region *region)
{
        if (region->anchor)
                (void)munmap(region->anchor, DN__SHM_PAGE_BYTES);
        region->anchor = NULL;
}

static int reserve_entry(const dn__region *region)
{
        const dn__shm_table *table = region->table; /* only for sizeof */
        int r;

        r = dn__file_reserve(region->fd,
                             offsetof(dn__shm_table, processes) +
                                     region->process * sizeof(table->processes[0]),
                             sizeof(table->processes[0]));
        if (r < 0)
                return r;
        return dn__file_reserve(region->fd,
                                offsetof(dn__shm_table, marks) +
                                        region->process * sizeof(table->marks[0]),
                                sizeof(table->marks[0]));
}

/* Claims an entry of the open file. Returns -ENOENT if the file was removed meanwhile. */
static int enter(dn__region *region)
{
        uint64_t serial = 0;
        int r;

        r = take_entry(region);
        if (dn__file_is_removed(region->fd))
                return -ENOENT;
        if (r < 0)
                return r;
        if (getrandom(&serial, sizeof(serial), 0) != sizeof(serial))
                return -EIO;
        region->owner = dn__shm_owner(serial, region->process);
        r = reserve_entry(region);
        if (r == 0)
                r = map(region);
        if (r < 0)
                return r;
        r = drop_anchor(region);
        if (r == 0)
                r = begin_entry(region);
        if (r == 0)
                return 0;
        weigh_anchor(region);
        (void)munmap(region->table, sizeof(dn__shm_table));
        return r;
}

/* Starts over while the file is removed before we have entered it. */
static int open_and_enter(dn__region *region, char ret_path[PATH_MAX])
{
        int r = -ENOENT;

        for (int i = 0; i < N_ATTEMPTS && r == -ENOENT; i++) {
                if (i > 0)
                        dn__clock_sleep_until(dn__clock_after_us(PAUSE_US));
                region->fd = dn__file_open(region->key, ret_path);
                if (region->fd < 0)
                        return region->fd;
                r = fstat(region->fd, &region->file) < 0 ? -errno : enter(region);
                if (r < 0)
                        (void)close(region->fd);
        }
        return r;
}

int dn__region_open(const char *key, dn__region **ret_region)
{
        dn__region *region = calloc(1, sizeof(*region) + strlen(key) + 1);
        char path[PATH_MAX];
        int r;

        if (!region)
                return -ENOMEM;
        strcpy(region->key, key);
        dn__fork_hold_off();
        r = open_and_enter(region, path);
        if (r == 0)
                region->fork_guard = dn__fork_guard_new(region->fd);
        dn__fork_let_go();
        if (r < 0) {
                free(region);
                return r;
        }
        region->path = strdup(path);
        if (!region->path) {
                (void)dn__region_close(region);
                return -ENOMEM;
        }
        *ret_region = region;
        return 0;
}

static void close_file(dn__region *region)
{
        if (region->fd < 0)
                return;
        region->fork_guard = dn__fork_guard_close(region->fork_guard, region->fd);
        region->fd = -1;
}

static bool is_same_file(const dn__region *region, int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_dev == region->file.st_dev &&
               status.st_ino == region->file.st_ino;
}

/* Of the same file, if that is still at its path. */
static int open_again(const dn__region *region)
{
        int fd = open(region->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

        if (fd < 0 || is_same_file(region, fd))
                return fd;
        (void)close(fd);
        return -1;
}

/* The table does not change with its descriptor. */
static void replace_fd(dn__region *region, int lost)
{
        int fd;

        dn__fork_hold_off();
        fd = open_again(region);
        if (atomic_compare_exchange_strong(&region->fd, &lost, fd))
                dn__fork_guard_set(region->fork_guard, fd);
        else if (fd >= 0)
                (void)close(fd);
        dn__fork_let_go();
}

int dn__region_get_fd(const dn__region *region)
{
        int fd = atomic_load(&region->fd);

        if (is_same_file(region, fd))
                return fd;
        replace_fd((dn__region *)region, fd);
        return atomic_load(&region->fd);
}

dn__region *dn__region_close(dn__region *region)
{
        dn__region *previous;

        for (; region; region = previous) {
                previous = region->previous;
                weigh_anchor(region);
                (void)munmap(region->table, sizeof(dn__shm_table));
                close_file(region);
                free(region->path);
                free(region);
        }
        return NULL;
}

/* --- Leaving ------------------------------------------------------------------------------- */

/* Nobody reads there any more, unless a thread was stopped at the wrong moment: it finds zeros. */
static void clear_memory(const dn__region *region)
{
        (void)mmap(region->table, sizeof(dn__shm_table), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void dn__region_leave(dn__region *region)
{
        dn__region *left = region->previous;

        dn__claim_release(dn__region_get_fd(region), DN__CLAIM_ALL);
        weigh_anchor(region);
        if (left)
                close_file(left);
        for (int i = 1; left && i < N_LEFT; i++)
                left = left->previous;
        if (left)
                clear_memory(left);
}

bool dn__region_was_once(const dn__region *region, uint64_t id)
{
        for (; region; region = region->previous)
                if (region->id == id)
                        return true;
        return false;
}

bool dn__region_is_same(const dn__region *a, const dn__region *b)
{
        return dn__file_is_same(dn__region_get_fd(a), dn__region_get_fd(b));
}

bool dn__region_become_keeper(dn__region *region)
{
        for (unsigned i = 0; !atomic_load(&region->is_keeper) && i < N_KEEPERS; i++)
                if (dn__claim_take(dn__region_get_fd(region), KEEPER_OFFSET + i, 1) == 0)
                        atomic_store(&region->is_keeper, true);
        return atomic_load(&region->is_keeper);
}

/* --- The file ------------------------------------------------------------------------------ */

void dn__region_remove_if_last(dn__region *region)
{
        unsigned n_above = DN__SHM_N_PROCESSES - region->process - 1;
        int fd = dn__region_get_fd(region);

        /* A process that has all entries is alone: nobody can enter before the file is gone. */
        if (dn__claim_take(fd, 0, DN__SHM_N_PROCESSES) < 0)
                return;
        dn__file_remove(&region->file, region->path);
        if (region->process)
                dn__claim_release(fd, 0, region->process);
        if (n_above)
                dn__claim_release(fd, region->process + 1, n_above);
}

bool dn__region_is_in_place(const dn__region *region)
{
        uint64_t moved = atomic_load(&region->table->moved);

        if (!dn__file_is_in_place(&region->file, region->path))
                return false;
        if (moved)
                (void)atomic_compare_exchange_strong(&region->table->moved, &moved, 0);
        return true;
}

int dn__region_find_next(dn__region *region, const char *key, dn__region **ret_next)
{
        int r;

        *ret_next = region;
        if (region && dn__region_is_in_place(region))
                return 0;
        r = dn__region_open(key, ret_next);
        if (r == 0 && region && dn__region_is_same(region, *ret_next)) {
                (void)dn__region_close(*ret_next);
                *ret_next = region;
        }
        return r;
}
