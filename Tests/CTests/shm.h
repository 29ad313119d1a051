/* A table in the private directory of the test. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "table/slot.h"
#include "test.h"
#include "util/fork.h"
#include "util/hash.h"

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

/* Fills the name's set of the table with names that have a state. Returns the slot of one. */
static inline dn__shm_slot *fill_set_of(dn__region *region, const char *name)
{
        size_t set = dn__shm_set_of(dn__hash64(name, strlen(name)));
        dn__shm_slot *slot = NULL;
        char other[32];

        for (int i = 0, n_found = 0; n_found < DN__SHM_SLOTS_PER_SET; i++) {
                snprintf(other, sizeof(other), "filler.%d", i);
                uint64_t hash = dn__hash64(other, strlen(other));
                if (dn__shm_set_of(hash) != set)
                        continue;
                slot = dn__slot_hold(region, hash, other, strlen(other));
                CHECK(slot != NULL);
                atomic_store(&slot->state, UINT64_MAX);
                n_found++;
        }
        return slot;
}
