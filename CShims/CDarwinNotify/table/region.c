/* The table of one bus, mapped into this process. */
#include "table/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/descriptor.h"
#include "util/failure.h"
#include "util/wake.h"

/* How many stale tables stay readable. */
#define N_STALE 8

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* --- The file ------------------------------------------------------------------------------- */

/* Opens the mapped file, if it still is at its path. Returns a descriptor to be closed at once, or
 * a negative errno. */
static int open_file(const dn__region *region)
{
        int fd DN__CLOSES = open(region->file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        if (fd < 0)
                return dn__failed("open");
        return dn__descriptor_refers_to(fd, &region->file.status) ? DN__TAKE_DESCRIPTOR(fd)
                                                                  : -ENOENT;
}

bool dn__region_process_is_alive(const dn__region *region, unsigned process)
{
        int fd DN__CLOSES = -1;

        if (process == atomic_load(&region->process))
                return true;
        fd = open_file(region);
        return fd < 0 || dn__claim_is_taken(fd, DN__SHM_ALIVE + process, 1);
}

/* Before Linux 5.14, and in a sandbox that refuses this advice, the pages are written to instead:
 * there, a full file system raises SIGBUS. */
int dn__region_reserve(const dn__region *region, void *memory, size_t n_bytes)
{
        size_t offset = (size_t)((unsigned char *)memory - (unsigned char *)region->table);
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        unsigned char *first = (unsigned char *)memory - offset % page_bytes;
        unsigned char *end = (unsigned char *)memory + n_bytes;

        if (madvise(first, (size_t)(end - first), MADV_POPULATE_WRITE) == 0)
                return 0;
        if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
                return errno == EFAULT ? -ENOSPC : dn__failed("madvise");
        for (; first < end; first += page_bytes)
                (void)atomic_fetch_or((_Atomic unsigned char *)first, 0);
        return 0;
}

/* --- Entering ------------------------------------------------------------------------------- */

static void raise_used(_Atomic uint64_t *n_used, uint64_t n)
{
        uint64_t found = atomic_load(n_used);

        while (found < n)
                if (atomic_compare_exchange_weak(n_used, &found, n))
                        return;
}

/* Nobody holds a slot without a tag: its holders are cleared when it is named. */
static void clear_holder(dn__shm_table *table, unsigned process)
{
        uint64_t bit = UINT64_C(1) << process % 64;

        for (size_t i = 0; (i = dn__shm_next_named(table, i)) < DN__SHM_N_SLOTS; i++) {
                _Atomic uint64_t *holders = &table->slots[i].holders[process / 64];

                if (atomic_load(holders) & bit)
                        (void)atomic_fetch_and(holders, ~bit);
        }
}

static void clear_owned_sets(dn__shm_table *table, unsigned process)
{
        for (size_t i = 0; i < DN__SHM_N_SETS; i++) {
                uint64_t owner = atomic_load(&table->owners[i]);

                if (dn__shm_owner_process(owner) == process)
                        (void)atomic_compare_exchange_strong(&table->owners[i], &owner, 0);
        }
}

/* A poster may still set an old mark; counts decide, so it does no harm. */
static void clear_entry(dn__shm_table *table, unsigned process)
{
        dn__shm_process *entry = &table->processes[process];

        (void)atomic_fetch_and(&table->followers[process / 64], ~(UINT64_C(1) << process % 64));
        clear_holder(table, process);
        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++)
                atomic_store(&entry->marked[i], 0);
        for (size_t i = 0; i < DN__SHM_MARK_WORDS; i++)
                atomic_store(&table->marks[process][i], 0);
        dn__wake_begin(&entry->wake);
        clear_owned_sets(table, process);
}

uint64_t dn__region_own_pid(void)
{
        struct stat space = { 0 };

        (void)stat("/proc/self/ns/pid", &space);
        return (uint64_t)space.st_ino << 32 | (uint32_t)getpid();
}

/* Clears what a dead process left in an entry, then counts as alive. */
static int begin_entry(const dn__region *region, unsigned process, int fd)
{
        dn__shm_table *table = region->table;

        clear_entry(table, process);
        atomic_store(&table->processes[process].pid, dn__region_own_pid());
        raise_used(&table->n_processes_used, (uint64_t)process + 1);
        return dn__claim_take(fd, DN__SHM_ALIVE + process);
}

/* Returns an entry, -EUSERS, or the error of a system that has no claims. A file that is removed at
 * this moment is treated like one that is removed later. */
static int take_entry(int fd)
{
        int r = -EAGAIN;

        for (unsigned i = 0; i < DN__SHM_N_PROCESSES && r == -EAGAIN; i++) {
                r = dn__claim_take(fd, i);
                if (r == 0)
                        return (int)i;
        }
        return r == -EAGAIN ? -EUSERS : r;
}

/* Makes a mapping of the description that has the claims, which keeps them when the descriptor is
 * closed. A forked child does not inherit it. */
static int drop_anchor(dn__region *region, int fd)
{
        void *anchor = mmap(NULL, DN__SHM_PAGE_BYTES, PROT_NONE, MAP_SHARED, fd, 0);

        if (anchor == MAP_FAILED)
                return dn__failed("mmap");
        region->anchor = anchor;
        return madvise(anchor, DN__SHM_PAGE_BYTES, MADV_DONTFORK) < 0
                       ? dn__failed("madvise(MADV_DONTFORK)")
                       : 0;
}

static void weigh_anchor(dn__region *region)
{
        if (region->anchor)
                (void)munmap(region->anchor, DN__SHM_PAGE_BYTES);
        region->anchor = NULL;
}

/* Takes an entry by a descriptor of the file. After a failure, closing the descriptor releases the
 * entry. */
static int enter(dn__region *region, int fd)
{
        dn__shm_table *table = region->table;
        int process = take_entry(fd), r;

        if (process < 0)
                return process;
        r = dn__region_reserve(region, &table->processes[process], sizeof(table->processes[0]));
        if (r == 0)
                r = dn__region_reserve(region, &table->marks[process], sizeof(table->marks[0]));
        if (r == 0)
                r = begin_entry(region, (unsigned)process, fd);
        if (r == 0)
                r = drop_anchor(region, fd);
        if (r < 0) {
                weigh_anchor(region);
                return r;
        }
        region->owner = dn__shm_owner(dn__clock_now_ns(), (unsigned)process);
        region->target = dn__shm_target(table, (unsigned)process);
        atomic_store(&region->process, (unsigned)process);
        return 0;
}

int dn__region_enter(dn__region *region)
{
        int fd DN__CLOSES = -1;

        if (dn__region_has_entry(region))
                return 0;
        fd = open_file(region);
        return fd < 0 ? fd : enter(region, fd);
}

/* --- Finding -------------------------------------------------------------------------------- */

static int map(dn__region *region, int fd)
{
        void *memory = mmap(NULL, sizeof(dn__shm_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (memory == MAP_FAILED)
                return dn__failed("mmap");
        /* In a directory on a disk, reading a page would also read its neighbours. */
        (void)madvise(memory, sizeof(dn__shm_table), MADV_RANDOM);
        region->table = memory;
        region->id = region->table->header.region_id;
        return 0;
}

static int region_new(const char *path, int fd, dn__region **ret_region)
{
        dn__region *region = calloc(1, sizeof(*region));
        int r = -ENOMEM;

        if (region) {
                atomic_init(&region->process, DN__REGION_NO_ENTRY);
                region->file.path = strdup(path);
                if (region->file.path)
                        r = fstat(fd, &region->file.status) < 0 ? dn__failed("fstat")
                                                                     : map(region, fd);
        }
        if (r == 0)
                *ret_region = region;
        else
                (void)dn__region_close(region);
        return r;
}

/* A table with an invalid header is abandoned as if it were not there. */
static bool is_sound(const dn__region *region)
{
        const dn__shm_header *header = &region->table->header;

        return header->region_id == region->id &&
               dn__file_is_sound(header, atomic_load(&region->table->n_processes_used));
}

int dn__region_find(const char *key, const dn__region *known, bool may_make,
                    dn__region **ret_region)
{
        int fd DN__CLOSES = -1;
        char path[PATH_MAX];

        fd = dn__file_find(key, known && is_sound(known) ? &known->file : NULL, path);
        if (fd == -ENOENT && may_make)
                fd = dn__file_make(key, path);
        return fd < 0 ? fd : region_new(path, fd, ret_region);
}

/* --- Leaving -------------------------------------------------------------------------------- */

dn__region *dn__region_close(dn__region *region)
{
        dn__region *previous;

        for (; region; region = previous) {
                previous = region->previous;
                weigh_anchor(region);
                if (region->table)
                        (void)munmap(region->table, sizeof(dn__shm_table));
                free((char *)region->file.path);
                free(region);
        }
        return NULL;
}

/* The number only grows, so it is a new one after the next move. */
void dn__region_set_stale(dn__region *region)
{
        uint64_t stale_count = dn__region_get_stale_count(region);

        while (!atomic_compare_exchange_weak(&region->table->stale_count, &stale_count,
                                             stale_count % 2 ? stale_count + 2 : stale_count + 1))
                continue;
}

void dn__region_clear_stale(dn__region *region, uint64_t stale_count)
{
        if (stale_count % 2)
                (void)atomic_compare_exchange_strong(&region->table->stale_count, &stale_count,
                                                     stale_count + 1);
}

void dn__region_leave(dn__region *region)
{
        dn__region *stale = region->previous;

        weigh_anchor(region);
        for (int i = 1; stale && i < N_STALE; i++)
                stale = stale->previous;
        /* Nobody reads there any longer, except a thread that was stopped at the wrong moment: it
         * finds zeros, or the old table if there is no memory for this. */
        if (stale)
                (void)mmap(stale->table, sizeof(dn__shm_table), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
