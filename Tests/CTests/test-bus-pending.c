/* The names whose posts wait for the bus. */
#include "bus/pending.h"

#include <errno.h>
#include <stdio.h>

#include "test.h"
#include "util/hash.h"

static int add(dn__pending *pending, const char *name, uint64_t generation)
{
        return dn__pending_add(pending, dn__hash64(name, strlen(name)), name, strlen(name),
                               generation, 42);
}

TEST_NO_BUS(aNameWaitsOnceWithItsNewestGeneration)
{
        dn__pending_post *post;
        dn__pending pending;

        dn__pending_init(&pending);
        CHECK(dn__pending_is_empty(&pending));
        CHECK_EQ(add(&pending, "b", 1), 0);
        CHECK_EQ(add(&pending, "a", 7), 0);
        CHECK_EQ(add(&pending, "b", 9), 0);
        CHECK_EQ(add(&pending, "b", 8), 0);
        CHECK_EQ(pending.posts.n_entries, 2);

        post = dn__pending_first(&pending);
        CHECK_STREQ(post->name, "b");
        CHECK_EQ(post->generation, 9);
        CHECK_EQ(post->region, 42);
        dn__pending_take(&pending, post);
        CHECK_STREQ(dn__pending_first(&pending)->name, "a");
        dn__pending_deinit(&pending);
}

TEST_NO_BUS(moreNamesThanTheLimitAreRefused)
{
        dn__pending pending;
        char name[16];

        dn__pending_init(&pending);
        for (int i = 0; i < DN__PENDING_MAX; i++) {
                snprintf(name, sizeof(name), "n%d", i);
                CHECK_EQ(add(&pending, name, 1), 0);
        }
        CHECK_EQ(add(&pending, "one more", 1), -ENOBUFS);
        CHECK_EQ(add(&pending, "n0", 2), 0);
        dn__pending_deinit(&pending);
}

TEST_MAIN()
