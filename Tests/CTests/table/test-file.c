/* The file of the table shared by a user's processes. */
#include "table/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm.h"
#include "table/slot.h"
#include "test-child.h"
#include "util/hash.h"

static char table_path[600];

static const char *path_of_table(const char *key)
{
        snprintf(table_path, sizeof(table_path), "%s/darwin-notify/table%d-%016llx",
                 test_directory(), DN__SHM_VERSION,
                 (unsigned long long)dn__hash64(key, strlen(key)));
        return table_path;
}

static bool is_at_path(const dn__region *region)
{
        dn__region *found;
        int r = dn__region_find("key", region, false, &found);

        if (r == 0)
                dn__region_close(found);
        return r == -EALREADY;
}

static bool is_second_maker;

/* Overrides the C library's: before a second maker links its table, the first one does. */
int linkat(int from, const char *path, int to, const char *name, int flags)
{
        if (is_second_maker)
                CHECK_EQ(syscall(SYS_linkat, from, path, to, name, flags), 0);
        return (int)syscall(SYS_linkat, from, path, to, name, flags);
}

TEST_NO_BUS(theSecondOfTwoMakersHasTheTableOfTheFirst)
{
        is_second_maker = true;
        AUTO_REGION *region = open_region("key");
        CHECK(is_at_path(region));
}

TEST_NO_BUS(aTableSetStaleAgainStaysStale)
{
        AUTO_REGION *region = open_region("key");

        dn__region_set_stale(region);
        uint64_t stale_count = dn__region_get_stale_count(region);
        dn__region_set_stale(region);
        dn__region_clear_stale(region, stale_count);
        CHECK(dn__region_is_stale(region));
        dn__region_clear_stale(region, dn__region_get_stale_count(region));
        CHECK(!dn__region_is_stale(region));
}

/* Until then its holds are those of the process before. */
TEST_NO_BUS(anEntryCountsOnceItIsCleared)
{
        AUTO_REGION *ours = open_region("key");
        int fd = open(ours->file.path, O_RDWR | O_CLOEXEC);

        CHECK_EQ(dn__claim_take(fd, ours->process + 1), 0);
        CHECK(!dn__region_process_is_alive(ours, ours->process + 1));
        CHECK_EQ(close(fd), 0);
}

TEST_NO_BUS(theTableOfAnEarlierDirectoryIsTheOneForAll)
{
        const char *parent = FORMAT("%s/socket", test_directory());
        const char *key = FORMAT("unix:path=%s/bus", parent);
        dn__region *later, *earlier;

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        CHECK_EQ(region_open(key, &later), 0); /* `parent` does not exist yet */
        CHECK_EQ(mkdir(parent, 0700), 0);
        CHECK_EQ(dn__region_find(key, NULL, true, &earlier), 0);
        CHECK_EQ(earlier->id, later->id); /* a table beats a directory without one */
        dn__region_close(earlier);
        CHECK_EQ(unlink(later->file.path), 0);
        CHECK_EQ(dn__region_find(key, later, true, &earlier), 0);
        CHECK(strncmp(earlier->file.path, parent, strlen(parent)) == 0);
        dn__region_close(earlier);
        dn__region_close(later);
}

static unsigned n_files(void)
{
        DIR *stream = opendir(FORMAT("%s/darwin-notify", test_directory()));
        unsigned n = 0;

        CHECK(stream != NULL);
        for (struct dirent *entry; (entry = readdir(stream));)
                n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        closedir(stream);
        return n;
}

static mode_t permissions_of(const char *path)
{
        struct stat status;

        CHECK_EQ(stat(path, &status), 0);
        return status.st_mode & 07777;
}

TEST_NO_BUS(filesOpenToOthersAreMadePrivate)
{
        const char *path = FORMAT("%s/darwin-notify", test_directory());

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        CHECK_EQ(mkdir(path, 0777), 0);
        CHECK_EQ(chmod(path, 0777), 0);
        AUTO_REGION *region = open_region("key");
        CHECK_EQ(permissions_of(path), 0700);
        CHECK_EQ(chmod(path_of_table("key"), 0644), 0);
        AUTO_REGION *other = open_region("key");
        CHECK_EQ(region->id, other->id);
        CHECK_EQ(permissions_of(path_of_table("key")), S_ISVTX | 0600);
}

/* Another directory is used, also by the user's other processes that find the path taken. */
static void check_another_directory(const char *path)
{
        dn__region *region;

        CHECK_EQ(region_open("key of the test of directories", &region), 0);
        CHECK(strncmp(region->file.path, test_directory(), strlen(test_directory())) != 0);
        CHECK_EQ(unlink(region->file.path), 0);
        dn__region_close(region);
        CHECK_EQ(unlink(path), 0);
}

TEST_NO_BUS(aForeignFileAtThePathOfTheDirectoryIsNotFollowed)
{
        const char *path = FORMAT("%s/darwin-notify", test_directory());

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(symlink(test_directory(), path), 0);
        check_another_directory(path);
        CHECK_EQ(mkfifo(path, 0600), 0);
        check_another_directory(path);
        CHECK_EQ(mknod(path, S_IFREG | 0600, 0), 0);
        check_another_directory(path);
}

TEST_NO_BUS(aTableThatMakesNoSenseIsLeft)
{
        dn__region *region = open_region("key"), *next;

        CHECK(is_at_path(region));
        region->table->n_processes_used = UINT64_MAX;
        CHECK_EQ(dn__region_find("key", region, false, &next), -ENOENT);
        region->table->n_processes_used = 1;
        CHECK(is_at_path(region));
        region->table->header.region_id++;
        CHECK(!is_at_path(region));
        region->table->header.slot_bytes = 0;
        CHECK_EQ(dn__region_find("key", region, true, &next), 0);
        CHECK(next->file.status.st_ino != region->file.status.st_ino);
        dn__region_close(next);
        dn__region_close(region);
}

/* Each of them stands at the path of the table and is replaced by one. */
static void check_replaced(void)
{
        dn__region *region = open_region("key"), *other = open_region("key");
        struct stat status;

        CHECK(is_at_path(region) && is_at_path(other));
        CHECK_EQ(stat(path_of_table("key"), &status), 0);
        CHECK_EQ(status.st_mode, S_IFREG | S_ISVTX | 0600);
        CHECK_EQ(status.st_size, (off_t)sizeof(dn__shm_table));
        CHECK_EQ(n_files(), 1);
        dn__region_close(region);
        dn__region_close(other);
        CHECK_EQ(remove(path_of_table("key")), 0);
}

/* center/test-table-harm.c has other files and directories at its path. */
TEST_NO_BUS(invalidTablesAreReplaced)
{
        dn__region_close(open_region("key"));
        CHECK_EQ(truncate(path_of_table("key"), 100), 0);
        check_replaced();
        dn__region_close(open_region("key"));
        CHECK_EQ(truncate(path_of_table("key"), 0), 0);
        CHECK_EQ(truncate(path_of_table("key"), sizeof(dn__shm_table)), 0);
        check_replaced();
        CHECK_EQ(symlink("/etc/passwd", path_of_table("key")), 0);
        check_replaced();
}

static int make_file(const char *name)
{
        const char *path = FORMAT("%s/darwin-notify/%s", test_directory(), name);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        return fd;
}

/* Only root can open the file, and repairs it; others make the next one. */
TEST_NO_BUS(aTableThatNewProcessesCannotOpenIsNotTheOneForAll)
{
        bool may_open = geteuid() == 0;
        struct stat status;

        AUTO_REGION *region = open_region("key");
        CHECK_EQ(chmod(path_of_table("key"), 0), 0);
        CHECK_EQ(is_at_path(region), may_open);
        CHECK_EQ(stat(path_of_table("key"), &status), 0);
        CHECK_EQ(status.st_mode & 07777, may_open ? 01600 : 0);
        AUTO_REGION *next = open_region("key");
        CHECK(is_at_path(next));
        CHECK_EQ(next->id == region->id, may_open);
}

TEST_NO_BUS(leftoversOfKilledProcessesAreRemoved)
{
        AUTO_REGION *used = open_region("another bus");
        int status, fd;
        pid_t pid = test_fork();

        if (pid == 0) {
                open_region("a bus that was");
                raise(SIGKILL);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        fd = make_file(".table-of-a-maker");
        CHECK_EQ(dn__claim_take(fd, 2 * DN__SHM_N_PROCESSES), 0);
        close(make_file("table1-0123456789abcdef"));
        close(make_file(".table-0123456789abcdef"));
        close(make_file(".table2-0123456789abcdef-0123456789abcdef"));
        close(make_file("of-somebody-else"));
        close(make_file("tables.service.env"));
        CHECK_EQ(n_files(), 8);
        dn__region_close(open_region("key"));
        CHECK_EQ(access(path_of_table("another bus"), F_OK), 0);
        CHECK_EQ(access(path_of_table("key"), F_OK), 0);
        CHECK_EQ(n_files(), 5);
        close(fd);
}

/* Runs in a child, because the limit is permanent. */
static int open_with_limit(const char *key, rlim_t n_bytes)
{
        struct rlimit limit = { n_bytes, n_bytes };
        dn__region *region;
        int r;

        setrlimit(RLIMIT_FSIZE, &limit);
        r = region_open(key, &region);
        if (r == 0 && !hold(region, "x"))
                r = -ENOMEM;
        return -r;
}

TEST_NO_BUS(fileSizeLimitDoesNotKillTheProcess)
{
        pid_t pid;

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        CHECK_EQ(dn__fork_init(), 0);
        pid = test_fork();
        if (pid == 0)
                _exit(open_with_limit("key", 1000));
        CHECK_EQ(test_wait_for(pid), EFBIG);
        CHECK_EQ(n_files(), 0);
        AUTO_REGION *region = open_region("key");
        pid = test_fork();
        if (pid == 0)
                _exit(open_with_limit("key", 1000));
        CHECK_EQ(test_wait_for(pid), 0); /* made by other processes */
        region = dn__region_close(region); /* a leftover */
        pid = test_fork();
        if (pid == 0)
                _exit(open_with_limit("another key", 0));
        CHECK_EQ(test_wait_for(pid), EFBIG);
}

TEST_MAIN()
