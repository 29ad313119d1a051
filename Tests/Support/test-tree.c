/* Removes a directory tree, including directories that a test has made unreadable. */
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "test.h"

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
        (void)status;
        (void)where;
        if (kind == FTW_DNR && chmod(path, 0700) == 0)
                test_remove_tree(path);
        else
                remove(path);
        return 0;
}

void test_remove_tree(const char *directory)
{
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
