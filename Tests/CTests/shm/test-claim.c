/* Claims on the entries of a table. */
#include "shm/claim.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

static int open_file(void)
{
        char path[4096];
        int fd;

        snprintf(path, sizeof(path), "%s/claims", test_directory());
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        return fd;
}

TEST_NO_BUS(anEntryHasOneOwner)
{
        int ours = open_file(), theirs = open_file();

        CHECK_EQ(dn__claim_take(ours, 3, 1), 0);
        CHECK_EQ(dn__claim_take(ours, 3, 1), 0);
        CHECK(dn__claim_take(theirs, 3, 1) < 0);
        CHECK_EQ(dn__claim_take(theirs, 4, 1), 0);
        CHECK(dn__claim_is_taken(theirs, 3));
        CHECK(!dn__claim_is_taken(ours, 3)); /* by another description */
        CHECK(!dn__claim_is_taken(ours, 5));
        dn__claim_release(ours, 3, 1);
        CHECK(!dn__claim_is_taken(theirs, 3));
        CHECK_EQ(dn__claim_take(theirs, 3, 1), 0);
        close(ours);
        close(theirs);
}

TEST_NO_BUS(claimsEndWithTheirDescriptor)
{
        int ours = open_file(), theirs = open_file();

        CHECK_EQ(dn__claim_take(ours, DN__CLAIM_ALL), 0);
        CHECK(dn__claim_take(theirs, 1000, 1) < 0);
        close(ours);
        CHECK_EQ(dn__claim_take(theirs, 1000, 1), 0);
        close(theirs);
}

TEST_NO_BUS(entriesOfSeveralOwnersAreNotOfOne)
{
        int first = open_file(), second = open_file(), asking = open_file();

        CHECK(!dn__claim_is_of_one(asking, 8));
        CHECK_EQ(dn__claim_take(first, 0, 4), 0);
        CHECK(dn__claim_is_of_one(asking, 4));
        CHECK(!dn__claim_is_of_one(asking, 8));
        CHECK_EQ(dn__claim_take(second, 4, 4), 0);
        CHECK(!dn__claim_is_of_one(asking, 8));
        dn__claim_release(first, 0, 4);
        CHECK(!dn__claim_is_of_one(asking, 8));
        close(second);
        CHECK_EQ(dn__claim_take(first, DN__CLAIM_ALL), 0);
        CHECK(dn__claim_is_of_one(asking, 8));
        close(first);
        close(asking);
}

TEST_NO_BUS(anInvalidDescriptorCountsAsSafe)
{
        CHECK(dn__claim_take(-1, 0, 1) < 0);
        CHECK(dn__claim_is_taken(-1, 0));
        CHECK(!dn__claim_is_of_one(-1, 1));
        dn__claim_release(-1, 0, 1);
}

TEST_MAIN()
