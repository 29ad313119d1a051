/* The posts that wait for one observer. */
#include "center/backlog.h"

#include <stdlib.h>

#include "darwinnotify/dict.h"
#include "test.h"

static void hold(dn__backlog *backlog, const char *name, const char *object, bool coalesces)
{
        static uint64_t n_arrivals;
        dn__post post = { .body.object = object };
        dn__kept_post *kept;

        CHECK_EQ(dn__name_init(&post.name, name, DN__REACH_BEYOND), 0);
        kept = dn__kept_post_new(&post);
        (coalesces ? dn__backlog_coalesce : dn__backlog_hold)(backlog, kept, ++n_arrivals);
        dn__kept_post_unref(kept);
}

static void release_all(dn__backlog *backlog)
{
        while (backlog->n_due < backlog->n_items)
                dn__backlog_release(backlog);
}

static void check_next(dn__backlog *backlog, const char *name, uint64_t n_posts, uint64_t n_dropped)
{
        dn__backlog_item *item = dn__backlog_take(backlog);

        CHECK(item);
        CHECK_STREQ(item->kept->post.name.text, name);
        CHECK_EQ(item->n_posts, n_posts);
        CHECK_EQ(item->n_dropped, n_dropped);
        dn__backlog_item_free(item);
}

TEST_NO_BUS(onlyWhatIsDueIsTaken)
{
        dn__backlog *backlog = dn__backlog_new(0, NULL);

        hold(backlog, "a", NULL, false);
        hold(backlog, "b", NULL, false);
        CHECK(!dn__backlog_take(backlog));
        dn__backlog_release(backlog);
        check_next(backlog, "a", 1, 0);
        CHECK(!dn__backlog_take(backlog));
        hold(backlog, "c", NULL, false);
        release_all(backlog);
        check_next(backlog, "b", 1, 0);
        check_next(backlog, "c", 1, 0);
        CHECK(!dn__backlog_take(backlog));
        dn__backlog_free(backlog);
        dn__backlog_free(NULL);
}

TEST_NO_BUS(onlyWhatIsHeldIsCoalesced)
{
        dn__backlog *backlog = dn__backlog_new(0, NULL);

        hold(backlog, "a", "x", true);
        release_all(backlog);
        hold(backlog, "a", "x", true);
        hold(backlog, "b", NULL, true);
        hold(backlog, "a", NULL, true);
        hold(backlog, "a", "x", true);
        CHECK_EQ(backlog->n_items, 4);
        release_all(backlog);
        check_next(backlog, "a", 1, 0);
        check_next(backlog, "b", 1, 0);
        check_next(backlog, "a", 1, 0);
        check_next(backlog, "a", 2, 0);
        CHECK(!dn__backlog_take(backlog));
        dn__backlog_free(backlog);
}

TEST_NO_BUS(theOldestAreDroppedAndTheNextOneReportsIt)
{
        dn__backlog *backlog = dn__backlog_new(0, NULL);

        dn__backlog_note_dropped(backlog, 5);
        for (int i = 0; i < DN__BACKLOG_MAX_POSTS; i++)
                hold(backlog, "a", NULL, false);
        CHECK_EQ(backlog->n_items, DN__BACKLOG_MAX_POSTS);
        hold(backlog, "b", NULL, false);
        hold(backlog, "b", NULL, false);
        CHECK_EQ(backlog->n_items, DN__BACKLOG_MAX_POSTS);
        release_all(backlog);
        check_next(backlog, "a", 1, 7);
        check_next(backlog, "a", 1, 0);
        dn__backlog_free(backlog);
}

TEST_NO_BUS(whatIsDroppedCountsAllThatItStoodFor)
{
        dn__backlog *backlog = dn__backlog_new(0, NULL);

        dn__backlog_note_dropped(backlog, 3);
        hold(backlog, "a", NULL, true);
        hold(backlog, "a", NULL, true);
        dn__backlog_release(backlog);
        for (int i = 0; i < DN__BACKLOG_MAX_POSTS; i++)
                hold(backlog, "b", NULL, false);
        CHECK(!dn__backlog_take(backlog)); /* the only one that was due is gone */
        release_all(backlog);
        check_next(backlog, "b", 1, 3 + 2);
        dn__backlog_free(backlog);
}

TEST_NO_BUS(whatIsCoalescedKeepsWhatWasDropped)
{
        dn__backlog *backlog = dn__backlog_new(0, NULL);

        dn__backlog_note_dropped(backlog, 3);
        hold(backlog, "a", NULL, true);
        hold(backlog, "a", NULL, true);
        release_all(backlog);
        check_next(backlog, "a", 2, 3);
        dn__backlog_free(backlog);
}

TEST_NO_BUS(bytesAreLimitedToo)
{
        dn__backlog *backlog = dn__backlog_new(0, NULL);
        size_t n_bytes = DN_DICT_MAX_BYTES - 1024;
        char *bytes = calloc(1, n_bytes);
        dn__post post = { 0 };

        CHECK_EQ(dn__name_init(&post.name, "a", DN__REACH_BEYOND), 0);
        for (int i = 0; i < 10; i++) {
                dn_dict_builder *builder = dn_dict_builder_new();
                dn_dict *dict = NULL;
                dn__kept_post *kept;

                dn_dict_builder_set_data(builder, "data", bytes, n_bytes);
                CHECK_EQ(dn_dict_builder_finish(builder, &dict), 0);
                post.body.user_info = dict;
                kept = dn__kept_post_new(&post);
                dn_dict_unref(dict);
                dn__backlog_hold(backlog, kept, (uint64_t)i);
                dn__kept_post_unref(kept);
        }
        CHECK_EQ(backlog->n_items, 4);
        CHECK(backlog->n_bytes <= DN__BACKLOG_MAX_BYTES);
        release_all(backlog);
        check_next(backlog, "a", 1, 6);
        dn__backlog_free(backlog);
        free(bytes);
}

TEST_NO_BUS(whatIsDueAndHeldStaysSoWhenItMoves)
{
        dn__backlog *from = dn__backlog_new(0, "x"), *to = dn__backlog_new(0, "x");

        CHECK_STREQ(to->object, "x");
        hold(from, "a", NULL, false);
        dn__backlog_release(from);
        hold(from, "b", NULL, true);
        dn__backlog_note_dropped(from, 3);
        dn__backlog_move(from, to);
        CHECK_EQ(from->n_items, 0);
        CHECK_EQ(to->n_items, 2);
        check_next(to, "a", 1, 0);
        CHECK(!dn__backlog_take(to));
        hold(to, "b", NULL, true);
        release_all(to);
        check_next(to, "b", 1, 0);
        check_next(to, "b", 1, 3);
        hold(from, "c", NULL, true);
        dn__backlog_free(from);
        dn__backlog_clear(to);
        CHECK_EQ(to->n_items, 0);
        dn__backlog_free(to);
}

TEST_MAIN()
