/* Location of the table, whatever a process knows of its session. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm.h"
#include "test-bus.h"
#include "test.h"

#define KEY "unix:path=/nowhere/bus"

/* The directory of the table, of which nothing is left. */
static const char *path_for(const char *key)
{
        static char path[PATH_MAX];
        dn__region *region;

        CHECK_EQ(region_open(key, &region), 0);
        CHECK_EQ(unlink(region->file.path), 0);
        strcpy(path, region->file.path);
        dn__region_close(region);
        return dirname(path);
}

static void check_directory(const char *key, const char *parent)
{
        CHECK_STREQ(path_for(key), FORMAT("%s/darwin-notify", parent));
}

TEST_NO_BUS(privateDirectoryOfTheSocketIsUsed)
{
        const char *parent = FORMAT("%s/runtime", test_directory());
        const char *key = FORMAT("unix:path=%s/bus", parent);

        CHECK_EQ(mkdir(parent, 0700), 0);
        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        check_directory(key, parent);
        unsetenv("XDG_RUNTIME_DIR");
        check_directory(key, parent);
        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        check_directory(FORMAT("%s,mode=x", key), test_directory());
        check_directory("none", test_directory());
        /* A directory that others can look into is not private. */
        CHECK_EQ(chmod(parent, 0711), 0);
        check_directory(key, test_directory());
}

TEST_NO_BUS(withoutTheVariableTheUsersDirectoryIsUsed)
{
        static const char *const useless[] = {"/etc/nowhere", "relative", "", "/dev/null"};
        const char *parent = FORMAT("/run/user/%d", (int)geteuid());

        test_directory_cover("/run/user", "mode=0755");
        CHECK_EQ(mkdir(parent, 0700), 0);
        setenv("XDG_RUNTIME_DIR", parent, 1);
        check_directory(KEY, parent);
        unsetenv("XDG_RUNTIME_DIR");
        check_directory(KEY, parent);
        for (size_t i = 0; i < sizeof useless / sizeof *useless; i++) {
                setenv("XDG_RUNTIME_DIR", useless[i], 1);
                check_directory(KEY, parent);
        }
}

TEST_NO_BUS(aDirectoryOfAnotherIsPassedOver)
{
        const char *path = FORMAT("/dev/shm/darwin-notify-%d", (int)geteuid());
        const char *next = FORMAT("%s.1", path);
        dn__region *region;

        test_bus_use_nothing();
        CHECK_EQ(symlink(test_directory(), path), 0);
        CHECK_STREQ(path_for(KEY), next);
        CHECK_EQ(unlink(path), 0);
        CHECK_STREQ(path_for(KEY), path);
        CHECK_EQ(rmdir(path), 0);
        CHECK_EQ(mkdir(path, 0700), 0);
        SKIP_IF(chown(path, geteuid() + 1, getegid()) < 0, "only root can be somebody else");
        CHECK_STREQ(path_for(KEY), next);
        /* All later processes find that table, even if the first name is free again. */
        CHECK_EQ(region_open(KEY, &region), 0);
        CHECK_EQ(rmdir(path), 0);
        CHECK_STREQ(path_for(KEY), next);
        dn__region_close(region);
}

TEST_NO_BUS(noTableIsMadeWhereAllNamesAreTaken)
{
        const char *path = FORMAT("/dev/shm/darwin-notify-%d", (int)geteuid());
        dn__region *region;

        test_bus_use_nothing();
        CHECK_EQ(symlink(test_directory(), path), 0);
        for (int i = 1; i <= 3; i++)
                CHECK_EQ(symlink(test_directory(), FORMAT("%s.%d", path, i)), 0);
        CHECK_EQ(region_open(KEY, &region), -EACCES);
}

TEST_MAIN()
