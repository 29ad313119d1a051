/* A table in the private directory of the test. */
#include <stdlib.h>
#include <sys/resource.h>

#include "shm/slot.h"
#include "test.h"
#include "util/fork.h"

static inline dn__region *open_region(const char *key)
{
        dn__region *region;

        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(key, &region), 0);
        return region;
}

/* After this, neither this process nor its children can create a table; they can use an existing
 * one. */
static inline void forbid_tables(void)
{
        struct rlimit limit = { 1 << 20, 1 << 20 };

        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
