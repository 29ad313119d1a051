/* File systems and sandboxes that lack a system call which a table needs. */
#include <darwinnotify/library.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test.h"
#include "util/failure.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define KEY "unix:path=/nowhere/lacking"

static const char *lacked, *lacking_directory; /* NULL: everywhere */
static int error_of_lacked;

static bool is_there(int fd)
{
        char path[512] = "";

        return !lacking_directory ||
               (readlink(FORMAT("/proc/self/fd/%d", fd), path, sizeof(path) - 1) > 0 &&
                strncmp(path, lacking_directory, strlen(lacking_directory)) == 0);
}

/* Sets errno if it does not. */
static bool works(const char *call, int fd)
{
        if (!lacked || strcmp(call, lacked) != 0 || !is_there(fd))
                return true;
        errno = error_of_lacked;
        return false;
}

/* Instead of those of the C library. */

int fallocate(int fd, int mode, off_t offset, off_t n_bytes)
{
        return works("fallocate", fd) ? (int)syscall(SYS_fallocate, fd, mode, offset, n_bytes) : -1;
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
        return works("linkat", to_fd) ? (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags)
                                      : -1;
}

int fcntl(int fd, int command, ...)
{
        va_list arguments;
        void *argument;

        va_start(arguments, command);
        argument = va_arg(arguments, void *);
        va_end(arguments);
        if (command == F_OFD_SETLK && !works("fcntl(F_OFD_SETLK)", fd))
                return -1;
        return (int)syscall(SYS_fcntl, fd, command, argument);
}

int madvise(void *memory, size_t n_bytes, int advice)
{
        return advice != MADV_POPULATE_WRITE || works("madvise", -1)
                       ? (int)syscall(SYS_madvise, memory, n_bytes, advice)
                       : -1;
}

void *mmap(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
        if ((flags & MAP_SHARED) && fd >= 0 && !works("mmap", fd))
                return MAP_FAILED;
        return (void *)syscall(SYS_mmap, at, n_bytes, protection, flags, fd, offset);
}

static void lack(const char *call, int error, const char *directory)
{
        lacked = call;
        error_of_lacked = error;
        lacking_directory = directory;
}

static const struct {
        const char *call;
        int error;
} cases[] = {
        { "fallocate", EOPNOTSUPP }, { "fallocate", ENOSYS }, { "fallocate", EPERM },
        { "linkat", EPERM },         { "linkat", EOPNOTSUPP }, { "linkat", ENOSYS },
        { "fcntl(F_OFD_SETLK)", EINVAL }, { "fcntl(F_OFD_SETLK)", ENOLCK },
        { "fcntl(F_OFD_SETLK)", ENOSYS }, { "fcntl(F_OFD_SETLK)", EPERM },
        { "mmap", ENODEV }, { "mmap", EINVAL },
};

/* Cases run at the same time, and another one removes the table of that address. */
#define OWN_KEY KEY "-somewhere"

TEST_NO_BUS(aFileSystemThatLacksACallIsPassedOver)
{
        const char *runtime = FORMAT("%s/runtime", test_directory());
        dn__region *region;

        CHECK_EQ(mkdir(runtime, 0700), 0);
        setenv("XDG_RUNTIME_DIR", runtime, 1);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                AUTO_REGION *other = NULL;

                lack(cases[i].call, cases[i].error, runtime);
                CHECK_EQ(region_open(OWN_KEY, &region), 0);
                CHECK(strncmp(region->file.path, runtime, strlen(runtime)) != 0);
                CHECK_EQ(region_open(OWN_KEY, &other), 0);
                CHECK_EQ(other->id, region->id);
                CHECK_EQ(rmdir(FORMAT("%s/darwin-notify", runtime)), 0); /* nothing is left there */
                CHECK_EQ(unlink(region->file.path), 0);
                (void)dn__region_close(region);
        }
        lack(NULL, 0, NULL);
        CHECK_EQ(region_open(OWN_KEY, &region), 0);
        CHECK(strncmp(region->file.path, runtime, strlen(runtime)) == 0);
        (void)dn__region_close(region);
}

TEST_NO_BUS(theCallThatIsLackedEverywhereIsNamed)
{
        dn__region *region;

        test_bus_use_nothing();
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                int error = cases[i].error == EINVAL ? EOPNOTSUPP : cases[i].error;

                lack(cases[i].call, cases[i].error, NULL);
                CHECK_EQ(region_open(KEY, &region), -error);
                CHECK_STREQ(dn__failure_take(), cases[i].call);
        }
}

/* Others have made the table. */
TEST_NO_BUS(aSandboxWithoutClaimsIsNotTakenForAFullTable)
{
        dn__region *region;
        AUTO_REGION *other = open_region(KEY);

        lack("fcntl(F_OFD_SETLK)", EPERM, NULL);
        CHECK_EQ(region_open(KEY, &region), -EPERM);
        CHECK_STREQ(dn__failure_take(), "fcntl(F_OFD_SETLK)");
        lack(NULL, 0, NULL);
        CHECK_EQ(unlink(other->file.path), 0);
}

TEST_NO_BUS(memoryIsReservedWithoutTheCallForIt)
{
        static const int errors[] = { EINVAL, ENOSYS, EPERM };
        AUTO_REGION *other = open_region(KEY);

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                AUTO_REGION *region = NULL;

                lack("madvise", errors[i], NULL);
                CHECK_EQ(region_open(KEY, &region), 0);
                CHECK_EQ(region->id, other->id);
        }
        CHECK_EQ(unlink(other->file.path), 0);
}

static char said[512];

static void note_failure(const char *message, void *context)
{
        if (strstr(message, "cannot open"))
                snprintf(said, sizeof(said), "%s", message);
}

TEST_NO_BUS(theMessageNamesTheCall)
{
        static const dn_diagnostics diagnostics = {.invoke = note_failure};
        static tally seen;

        test_bus_use_none();
        lack("linkat", EOPNOTSUPP, NULL);
        (void)dn_set_diagnostics(&diagnostics);
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", TALLY_HANDLER(&seen), NULL, NULL),
                 DN_NOT_CONNECTED);
        CHECK_STREQ(said, FORMAT("cannot open the shared table for none (linkat); using D-Bus "
                                 "only, will try again: %s", strerror(EOPNOTSUPP)));
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_MAIN()
