/* A table in the private directory of the test. */
#include <stdlib.h>

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
