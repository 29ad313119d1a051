/* Names with posts waiting for the bus. */
#include "bus/pending.h"

#include <errno.h>
#include <stdlib.h>

#include "test.h"

static int add_counted(dn__pending *pending, const char *name, uint64_t region_id,
                       uint64_t generation)
{
        dn__post post = { .generation = generation, .region_id = region_id };

        CHECK_EQ(dn__name_init(&post.name, name, DN__REACH_BEYOND), 0);
        return dn__pending_add(pending, &post);
}

static int add(dn__pending *pending, const char *name, uint64_t generation)
{
        return add_counted(pending, name, 42, generation);
}

TEST_NO_BUS(nameWaitsOnceWithItsNewestGeneration)
{
        dn__pending_post *first;
        dn__pending pending;

        dn__pending_init(&pending);
        CHECK(pending.n_posts == 0);
        CHECK_EQ(add(&pending, "b", 1), 0);
        CHECK_EQ(add(&pending, "a", 7), 0);
        CHECK_EQ(add(&pending, "b", 9), 0);
        CHECK_EQ(add(&pending, "b", 8), 0);
        CHECK_EQ(pending.by_name.n_entries, 2);

        first = dn__pending_first(&pending);
        CHECK_STREQ(first->post.name.text, "b");
        CHECK_EQ(first->post.generation, 9);
        CHECK_EQ(first->post.region_id, 42);
        dn__pending_take(&pending, first);
        dn__pending_post_free(first);
        CHECK_STREQ(dn__pending_first(&pending)->post.name.text, "a");
        dn__pending_deinit(&pending);
}

/* Observers that have heard of the counted posts would take it for one of them. */
TEST_NO_BUS(uncountedPostStaysUncountedWhileItWaits)
{
        dn__pending pending;

        dn__pending_init(&pending);
        CHECK_EQ(add(&pending, "a", 5), 0);
        CHECK_EQ(add(&pending, "a", 0), 0);
        CHECK_EQ(add(&pending, "a", 7), 0);
        CHECK_EQ(dn__pending_first(&pending)->post.generation, 0);
        dn__pending_deinit(&pending);
}

/* The generation of one table means nothing in another. */
TEST_NO_BUS(postsThatTwoTablesHaveCountedWaitAsUncountedOnes)
{
        dn__pending pending;

        dn__pending_init(&pending);
        CHECK_EQ(add_counted(&pending, "a", 42, 5), 0);
        CHECK_EQ(add_counted(&pending, "a", 43, 7), 0);
        CHECK_EQ(dn__pending_first(&pending)->post.generation, 0);
        dn__pending_deinit(&pending);
}

TEST_NO_BUS(bytesOfPostsThatHaveLeftDoNotCount)
{
        dn__post post = { .is_queued = true };
        dn__pending_post *first;
        dn__pending pending;
        size_t n_bytes;

        dn__pending_init(&pending);
        CHECK_EQ(dn__name_init(&post.name, "a", DN__REACH_BEYOND), 0);
        CHECK_EQ(dn__pending_add(&pending, &post), 0);
        n_bytes = pending.n_bytes;
        CHECK(n_bytes > 0);
        CHECK_EQ(dn__pending_add(&pending, &post), 0);
        CHECK_EQ(pending.n_bytes, 2 * n_bytes);
        first = dn__pending_first(&pending);
        dn__pending_take(&pending, first);
        dn__pending_post_free(first);
        CHECK_EQ(pending.n_bytes, n_bytes);
        dn__pending_deinit(&pending);
}

/* Returns a dictionary of nearly the greatest size. */
static dn_dict *make_large_dict(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        size_t n_bytes = DN_DICT_MAX_BYTES / 8 * 7;
        void *bytes = calloc(1, n_bytes);
        dn_dict *dict = NULL;

        dn_dict_builder_set_data(builder, "data", bytes, n_bytes);
        CHECK_EQ(dn_dict_builder_finish(builder, &dict), 0);
        free(bytes);
        return dict;
}

TEST_NO_BUS(theLastPostStaysBelowTheLimitOfBytes)
{
        dn__post post = { .is_queued = true };
        dn_dict *dict = make_large_dict();
        dn__pending pending;

        dn__pending_init(&pending);
        CHECK_EQ(dn__name_init(&post.name, "a", DN__REACH_BEYOND), 0);
        post.body.user_info = dict;
        for (int i = 0; i < 4; i++)
                CHECK_EQ(dn__pending_add(&pending, &post), 0);
        CHECK_EQ(dn__pending_add(&pending, &post), -ENOBUFS);
        CHECK(pending.n_bytes <= DN__PENDING_MAX_QUEUED_BYTES);
        post.body.user_info = NULL; /* there is room for a small one */
        CHECK_EQ(dn__pending_add(&pending, &post), 0);
        dn__pending_deinit(&pending);
        dn_dict_unref(dict);
}

TEST_MAIN()
