/* The file of the table that the processes of a user share. */
#include "shm/file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slot.h"
#include "shm.h"
#include "util/hash.h"

static char table_path[600];

static const char *path_of_table(const char *key)
{
        snprintf(table_path, sizeof(table_path), "%s/darwin-notify/table%d-%016llx",
                 test_directory(), DN__SHM_VERSION,
                 (unsigned long long)dn__hash64(key, strlen(key)));
        return table_path;
}

TEST_NO_BUS(theLastUserRemovesTheFile)
{
        dn__region *a = open_region("key"), *b = open_region("key");

        dn__region_remove_if_last(a);
        CHECK_EQ(access(path_of_table("key"), F_OK), 0);
        dn__region_close(b);
        dn__region_remove_if_last(a);
        CHECK(access(path_of_table("key"), F_OK) < 0);
        b = open_region("key");
        CHECK(b->table->header.region != a->table->header.region);
        dn__region_close(a);
        dn__region_close(b);
}

static void *open_and_close(void *argument)
{
        dn__region *region;

        (void)argument;
        for (int i = 0; i < 300; i++) {
                CHECK_EQ(dn__region_open("key", &region), 0);
                /* Whoever is in a table at the same time is in the same one. */
                CHECK(!dn__file_is_removed(region->fd));
                dn__region_remove_if_last(region);
                dn__region_close(region);
        }
        return NULL;
}

TEST_NO_BUS(openingAndRemovingRaceWithoutLoss)
{
        pthread_t threads[4];

        dn__region_close(open_region("key"));
        for (size_t i = 0; i < 4; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
        for (size_t i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
}

static int result_of_open(void)
{
        dn__region *region;
        int r = dn__region_open("key", &region);

        if (r == 0)
                dn__region_close(region);
        return r;
}

TEST_NO_BUS(aDirectoryOfOthersIsRefused)
{
        char path[600];

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        snprintf(path, sizeof(path), "%s/darwin-notify", test_directory());
        CHECK_EQ(mkdir(path, 0777), 0);
        CHECK_EQ(chmod(path, 0777), 0);
        CHECK_EQ(result_of_open(), -EACCES);
        CHECK_EQ(rmdir(path), 0);
        CHECK_EQ(symlink(test_directory(), path), 0);
        CHECK(result_of_open() < 0);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(result_of_open(), 0);
}

TEST_NO_BUS(aFileThatIsNoTableIsRefused)
{
        dn__region_close(open_region("key"));
        CHECK_EQ(truncate(path_of_table("key"), 100), 0);
        CHECK_EQ(result_of_open(), -EPROTO);
        CHECK_EQ(truncate(path_of_table("key"), sizeof(dn__shm_table)), 0);
        CHECK_EQ(result_of_open(), 0);
        CHECK_EQ(truncate(path_of_table("key"), 0), 0);
        CHECK_EQ(truncate(path_of_table("key"), sizeof(dn__shm_table)), 0);
        CHECK_EQ(result_of_open(), -EPROTO);
        CHECK_EQ(chmod(path_of_table("key"), 0644), 0);
        CHECK_EQ(result_of_open(), -EACCES);
}

TEST_MAIN()
