/* The file of a table.
 *
 * A table is made once, under a name of its own, and linked complete: a second maker uses the first
 * one's. No process removes a table that it is in. A process may be stopped anywhere in here
 * without keeping others from finding or making a table: nobody waits, nothing is locked. */
#include "table/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "table/directory.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/debug.h"
#include "util/failure.h"
#include "util/hash.h"
#include "util/text.h"

#define PREFIX "table"
#define NAME_BYTES DN__DIRECTORY_NAME_BYTES

/* The sticky bit protects it from age-based cleanup, as the XDG_RUNTIME_DIR specification
 * provides. */
#define MODE 01600

/* How often to start over when others create, remove or damage the file concurrently. */
#define N_ATTEMPTS 4

/* Reports that a system call is unsupported, for calls that fail with a different error in that
 * case. */
static int lacks(const char *call)
{
        (void)dn__failed(call);
        return -EOPNOTSUPP;
}

/* --- Claims -------------------------------------------------------------------------------- */

static struct flock lock_of(unsigned first, unsigned n)
{
        return (struct flock){
                .l_type = F_WRLCK,
                .l_whence = SEEK_SET,
                .l_start = DN__SHM_CLAIMS_OFFSET + first,
                .l_len = n,
        };
}

int dn__claim_take(int fd, unsigned number)
{
        struct flock lock = lock_of(number, 1);

        if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
                return 0;
        if (errno == EAGAIN)
                return -EAGAIN;
        return errno == EINVAL ? lacks("fcntl(F_OFD_SETLK)") : dn__failed("fcntl(F_OFD_SETLK)");
}

bool dn__claim_is_taken(int fd, unsigned first, unsigned n)
{
        struct flock lock = lock_of(first, n);

        return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* --- Judging ------------------------------------------------------------------------------- */

static dn__shm_header expected_header(uint64_t region_id)
{
        return (dn__shm_header){
                .magic = DN__SHM_MAGIC,
                .version = DN__SHM_VERSION,
                .n_sets = DN__SHM_N_SETS,
                .slots_per_set = DN__SHM_SLOTS_PER_SET,
                .n_processes = DN__SHM_N_PROCESSES,
                .slot_bytes = sizeof(dn__shm_slot),
                .region_id = region_id,
        };
}

bool dn__file_is_sound(const dn__shm_header *header, uint64_t n_processes_used)
{
        dn__shm_header expected = expected_header(header->region_id);

        return memcmp(header, &expected, sizeof(expected)) == 0 && header->region_id != 0 &&
               n_processes_used <= DN__SHM_N_PROCESSES;
}

/* Reads the header with a system call, because accessing a mapping of a short file would fault. */
static bool is_table(int fd)
{
        struct {
                dn__shm_header header;
                uint64_t n_processes_used;
        } begin;
        struct stat status;

        return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
               status.st_size == (off_t)sizeof(dn__shm_table) &&
               pread(fd, &begin, sizeof(begin), 0) == sizeof(begin) &&
               dn__file_is_sound(&begin.header, begin.n_processes_used) &&
               ((status.st_mode & 07777) == MODE || fchmod(fd, MODE) == 0);
}

/* Returns whether an error means only that this process lacks resources; it says nothing about the
 * file. */
static bool is_lack(int error)
{
        return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
}

/* Returns a descriptor, or a negative errno: -ENOENT if nothing is there, -EINVAL if it is not a
 * table of this version or cannot be opened. */
static int open_existing(int directory, const char *name)
{
        int fd DN__CLOSES = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
                return errno == ENOENT || is_lack(errno) ? -errno : -EINVAL;
        return is_table(fd) ? DN__TAKE_DESCRIPTOR(fd) : -EINVAL;
}

/* --- Making -------------------------------------------------------------------------------- */

/* Exceeding a file size limit would kill the process with a signal. */
static bool is_allowed_size(size_t n_bytes)
{
        struct rlimit limit;

        return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
               limit.rlim_cur >= n_bytes;
}

/* Never 0. */
static uint64_t draw(void)
{
        uint64_t drawn;

        return getrandom(&drawn, sizeof(drawn), 0) == sizeof(drawn) && drawn
                       ? drawn
                       : dn__clock_now_ns();
}

static int write_table(int fd)
{
        dn__shm_header header = expected_header(draw());

        if (!is_allowed_size(sizeof(dn__shm_table)))
                return -EFBIG;
        if (ftruncate(fd, sizeof(dn__shm_table)) < 0)
                return dn__failed("ftruncate");
        /* The part everyone reads; the rest is reserved by its users. Not posix_fallocate(), which
         * writes if the file system cannot reserve. */
        if (fallocate(fd, 0, 0, (off_t)offsetof(dn__shm_table, tags)) < 0)
                return dn__failed("fallocate");
        if (pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
                return -EIO;
        return fchmod(fd, MODE) < 0 ? dn__failed("fchmod") : 0;
}

/* Not every file system supports shared mappings. */
static int check_mapping(int fd)
{
        void *memory = mmap(NULL, DN__SHM_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (memory == MAP_FAILED)
                return errno == EINVAL ? lacks("mmap") : dn__failed("mmap");
        (void)munmap(memory, DN__SHM_PAGE_BYTES);
        return 0;
}

static void format_temporary(char ret_name[NAME_BYTES])
{
        (void)snprintf(ret_name, NAME_BYTES, "." PREFIX "-%016llx", (unsigned long long)draw());
}

/* Nobody sees a partial table. Returns -ENOENT if another maker took the file for a leftover before
 * it was claimed. */
static int make(int directory, const char *name)
{
        char temporary[NAME_BYTES];
        int fd DN__CLOSES = -1;
        int r;

        format_temporary(temporary);
        fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return dn__failed("openat");
        r = dn__claim_take(fd, DN__SHM_MAKING);
        if (r == 0)
                r = write_table(fd);
        if (r == 0)
                r = check_mapping(fd);
        if (r == 0 && linkat(directory, temporary, directory, name, 0) < 0 && errno != EEXIST)
                r = dn__failed("linkat");
        (void)unlinkat(directory, temporary, 0);
        return r;
}

/* As dn__region_set_stale(): a process that only posts may be in it, without a claim. */
static void set_stale(int fd)
{
        const off_t at = offsetof(dn__shm_table, stale_count);
        uint64_t stale_count;

        if (!is_allowed_size((size_t)at + sizeof(stale_count)) || !is_table(fd) ||
            pread(fd, &stale_count, sizeof(stale_count), at) != sizeof(stale_count))
                return;
        stale_count += stale_count % 2 ? 2 : 1;
        (void)!pwrite(fd, &stale_count, sizeof(stale_count), at);
}

/* A process that enters it at this moment is in a removed table, and will notice. */
static void remove_if_unused(int directory, const char *name)
{
        int fd DN__CLOSES = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd >= 0 && !dn__claim_is_taken(fd, 0, DN__SHM_N_CLAIMS) &&
            unlinkat(directory, name, 0) == 0)
                set_stale(fd);
}

/* Removes the leftovers of ended processes: tables of other buses and versions, complete or
 * partial. A name with a dot inside is that of another file. */
static void tidy(int directory, const char *own)
{
        int fd DN__CLOSES = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        if (!stream)
                return;
        fd = -1; /* owned by the stream */
        while ((entry = readdir(stream))) {
                const char *name = entry->d_name + (entry->d_name[0] == '.');

                if (dn__text_begins_with(name, PREFIX) && !strchr(name, '.') &&
                    strcmp(entry->d_name, own) != 0)
                        remove_if_unused(directory, entry->d_name);
        }
        (void)closedir(stream);
}

/* Removes a file that is not a table. If it has become one meanwhile, its users find the next. */
static void put_aside(int directory, const char *name)
{
        char temporary[NAME_BYTES];

        format_temporary(temporary);
        if (renameat(directory, name, directory, temporary) == 0 &&
            unlinkat(directory, temporary, 0) < 0)
                (void)unlinkat(directory, temporary, AT_REMOVEDIR);
}

static int open_or_make(int directory, const char *name)
{
        int fd, r = 0;

        for (int i = 0; i < N_ATTEMPTS && (r == 0 || r == -ENOENT); i++) {
                fd = open_existing(directory, name);
                if (fd == -EINVAL) {
                        put_aside(directory, name);
                } else if (fd == -ENOENT) {
                        tidy(directory, name);
                        r = make(directory, name);
                } else {
                        return fd;
                }
        }
        return r < 0 ? r : -EPROTO;
}

/* --- Finding ------------------------------------------------------------------------------- */

static void format_path(const char *directory, const char *key, char ret_path[PATH_MAX])
{
        (void)snprintf(ret_path, PATH_MAX, "%s/" PREFIX "%d-%016llx", directory, DN__SHM_VERSION,
                       (unsigned long long)dn__hash64(key, strlen(key)));
}

static bool is_known(const dn__file_id *known, const struct stat *found)
{
        return known && found->st_dev == known->status.st_dev &&
               found->st_ino == known->status.st_ino &&
               found->st_size == (off_t)sizeof(dn__shm_table);
}

static int open_in(const dn__directory *directory, const char *path)
{
        int in DN__CLOSES = dn__directory_open(directory, false);

        return in < 0 ? in : open_existing(in, strrchr(path, '/') + 1);
}

/* A new process that cannot open the file finds no table; one that can repairs its mode. */
static bool can_be_found(const dn__directory *directory, const char *path,
                         const struct stat *found)
{
        int fd DN__CLOSES = -1;

        if (!dn__directory_is_usable(directory))
                return false;
        if ((found->st_mode & 07777) == MODE)
                return true;
        fd = open_in(directory, path);
        return fd >= 0 || is_lack(-fd);
}

/* Returns as dn__file_find(), for one directory. Ignores a table that no other process would find,
 * so that the user's processes are not split between two tables. */
static int find_in(const dn__directory *directory, const char *path, const dn__file_id *known)
{
        struct stat found;
        int r;

        if (lstat(path, &found) < 0)
                return is_lack(errno) ? -errno : -ENOENT;
        if (is_known(known, &found))
                return can_be_found(directory, path, &found) ? -EALREADY : -ENOENT;
        r = open_in(directory, path);
        return r >= 0 || is_lack(-r) ? r : -ENOENT;
}

int dn__file_find(const char *key, const dn__file_id *known, char ret_path[PATH_MAX])
{
        dn__directory directory = { .user = geteuid() };
        int r = -ENOENT;

        while (r == -ENOENT && dn__directory_next(&directory, key)) {
                format_path(directory.path, key, ret_path);
                r = find_in(&directory, ret_path, known);
        }
        return r;
}

/* No process of this user can have a table there, so all of them try the next directory. */
static bool is_hopeless(int r)
{
        static const int errors[] = {
                EACCES, EPERM, EROFS, ENAMETOOLONG, ENOSYS, EOPNOTSUPP, ENODEV, ENOLCK,
        };

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                if (r == -errors[i])
                        return true;
        return false;
}

bool dn__file_has_directory(const char *key)
{
        dn__directory directory = { .user = geteuid() };
        int fd DN__CLOSES = -EACCES;

        while (is_hopeless(fd) && dn__directory_next(&directory, key))
                fd = dn__directory_open(&directory, true);
        return fd >= 0;
}

/* Returns as dn__file_make(), for one directory. */
static int make_in(const dn__directory *directory, const char *path)
{
        int in DN__CLOSES = dn__directory_open(directory, true);

        if (in == -EACCES && dn__directory_is_public(directory))
                dn__debug_say(0, "%s belongs to another user; ignoring it", directory->path);
        return in < 0 ? in : open_or_make(in, strrchr(path, '/') + 1);
}

int dn__file_make(const char *key, char ret_path[PATH_MAX])
{
        dn__directory directory = { .user = geteuid() };
        int r = -EACCES;

        while (is_hopeless(r) && dn__directory_next(&directory, key)) {
                format_path(directory.path, key, ret_path);
                r = make_in(&directory, ret_path);
        }
        return r;
}
