/* Opens centers and loops, reads their statistics, and builds what they post. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <darwinnotify/statistics.h>

#include "test.h"

static inline dn_center *open_center(const char *address)
{
        dn_center *center = NULL;

        CHECK_EQ(dn_center_open(address, &center), 0);
        return center;
}

static inline dn_center *open_distributed(const char *address)
{
        dn_center *center = NULL;

        CHECK_EQ(dn_center_open_distributed(address, &center), 0);
        return center;
}

static inline dn_loop *new_loop(void)
{
        dn_loop *loop = NULL;

        CHECK_EQ(dn_loop_new(&loop), 0);
        CHECK(loop);
        return loop;
}

static inline uint64_t statistic_of(dn_center *center, int number)
{
        uint64_t value = UINT64_MAX;

        CHECK_EQ(dn_center_get_statistic(center, number, &value), 0);
        return value;
}

static inline void release_dict(dn_dict **dict)
{
        dn_dict_unref(*dict);
}

/* Released at the end of its block. */
#define AUTO_DICT __attribute__((cleanup(release_dict))) dn_dict

static inline dn_dict *finish(dn_dict_builder *builder)
{
        dn_dict *dict = NULL;

        CHECK_EQ(dn_dict_builder_finish(builder, &dict), 0);
        CHECK(dict);
        return dict;
}
