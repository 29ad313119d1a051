/* Removes a directory tree. */
#include <ftw.h>
#include <stdio.h>

#include "test.h"

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
        (void)status;
        (void)kind;
        (void)where;
        remove(path);
        return 0;
}

void test_remove_tree(const char *directory)
{
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
