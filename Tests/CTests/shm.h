/* A table in the private directory of the test. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "table/slot.h"
#include "test.h"
#include "util/fork.h"
#include "util/hash.h"

/* Finds or makes a table and takes an entry. */
static inline int region_open(const char *key, dn__region **ret_region)
{
        int r = -ENOENT;

        for (int i = 0; i < 4 && r == -ENOENT; i++) {
                r = dn__region_find(key, NULL, true, ret_region);
                if (r < 0)
                        continue;
                r = dn__region_enter(*ret_region);
                if (r < 0)
                        (void)dn__region_close(*ret_region);
        }
        return r;
}

static inline dn__name slot_name(const char *text)
{
        return (dn__name){
                .text = text,
                .n_bytes = strlen(text),
                .hash = dn__hash64(text, strlen(text)),
                .reach = DN__REACH_BEYOND,
        };
}

/* Takes another entry of a table, as another process would. */
static inline dn__region *enter_table(const char *key)
{
        dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(region_open(key, &region), 0);
        return region;
}

static inline dn__region *open_region(const char *key)
{
        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        return enter_table(key);
}

static inline void close_region(dn__region **region)
{
        dn__region_close(*region);
}

/* Closed at the end of its block. */
#define AUTO_REGION __attribute__((cleanup(close_region))) dn__region

static inline size_t set_of(const char *name)
{
        return dn__shm_set_of(dn__hash64(name, strlen(name)));
}

/* Returns NULL if there is no room. */
static inline dn__shm_slot *hold(dn__region *region, const char *name)
{
        dn__name held = slot_name(name);

        return dn__slot_hold(region, &held, dn__clock_after_us(DN__SLOT_TIMEOUT_US));
}

/* Returns NULL if nobody holds it. */
static inline dn__shm_slot *find(const dn__region *region, const char *name)
{
        dn__name held = slot_name(name);

        return dn__slot_find(region, &held);
}

/* After this, neither this process nor its children can create a table; they can use an existing
 * one. */
static inline void forbid_tables(void)
{
        struct rlimit limit = { 1 << 20, 1 << 20 };

        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Formats a name in the same set as another one. Such names are numbered from 0. */
static inline void name_in_set_of(const char *like, int number, char ret_name[64])
{
        for (int i = 0, n_found = 0; n_found <= number; i++) {
                snprintf(ret_name, 64, "%s.%d", like, i);
                n_found += set_of(ret_name) == set_of(like);
        }
}

/* Fills the name's set of the table with names that have a state. Returns the slot of one. */
static inline dn__shm_slot *fill_set_of(dn__region *region, const char *name)
{
        dn__shm_slot *slot = NULL;
        char other[64];

        for (int i = 0; i < DN__SHM_SLOTS_PER_SET; i++) {
                name_in_set_of(name, i, other);
                slot = hold(region, other);
                CHECK(slot != NULL);
                atomic_store(&slot->state, UINT64_MAX);
        }
        return slot;
}
