/* Each system call of the library and of libsystemd fails once, in every way that it can. */
#include <notify_private.h>

#include "center/own-table.h"
#include "each-call.h"
#include "member.h"
#include "notify-tally.h"

/* Other cases without a bus have tables in the same directories: a failure leads from one to the
 * next. So this one shares the absence of a bus of its own. */
static void begin(void)
{
        test_bus *bus = test_bus_begin();

        if (test_bus_is_none(bus))
                test_bus_use(test_bus_prepare("daemon"));
}

/* --- the Darwin center ------------------------------------------------------------------------ */

static test_child *other; /* observes and posts "x" */

static dn_observer *observe(dn_center *center, const char *name, tally *seen)
{
        dn_observer *observer = NULL;
        int r = TRY(dn_center_observe(center, name, TALLY_HANDLER(seen), NULL, &observer),
                    DN_NOT_CONNECTED);

        CHECK_EQ(r >= 0, observer != NULL);
        CHECK_EQ(seen->n_destroyed, r < 0);
        if (observer)
                return observer;
        seen->n_destroyed = 0;
        return tally_observe_soon(center, name, seen);
}

static int post_once(dn_center *center, const char *name)
{
        return TRY(dn_center_post(center, name, NULL, NULL, 0), DN_NOT_CONNECTED);
}

static void drop(dn_observer *observer, tally *seen, footing before)
{
        (void)tally_drop(observer);
        shut_down(before);
        CHECK_EQ(seen->n_destroyed, 1);
}

/* Returns when both have heard it: the other one also observes the name. */
static void let_other_post(const tally *seen)
{
        uint64_t n_before = posts_of(other), n_seen = seen->n_posts;

        CHECK(ask(other, "post x") >= 0);
        WAIT_UNTIL(posts_of(other) > n_before);
        WAIT_UNTIL(seen->n_posts > n_seen);
}

static void use_darwin(void)
{
        footing before = take_footing();
        uint64_t n_before = posts_of(other);
        tally seen = {0};
        dn_observer *observer;
        int r;

        fail_from_here();
        observer = observe(dn_center_darwin(), "x", &seen);
        r = post_once(dn_center_darwin(), "x");
        if (r >= 0)
                WAIT_UNTIL(seen.n_posts > 0);
        if (r == 0)
                WAIT_UNTIL(posts_of(other) > n_before);
        let_other_post(&seen);
        (void)TRY(dn_flush(TEST_DEADLINE_US), -ENOTCONN, -ENOBUFS);
        drop(observer, &seen, before);
}

TEST(postsAreHeardWhicheverCallFails)
{
        begin();
        other = spawn_member("x");
        fail_each(use_darwin);
        end_member(other);
}

/* Without a bus, a process that looks for the table at the wrong moment hears nothing meanwhile. */
static uint64_t post_to_other(void)
{
        (void)post_once(dn_center_darwin(), "x");
        look_later(other);
        CHECK(ask(other, "post y") >= 0);
        return posts_of(other);
}

static uint64_t post_from_other(const tally *seen)
{
        (void)forget_look(dn_center_darwin());
        CHECK(ask(other, "post x") >= 0);
        (void)post_once(dn_center_darwin(), "y");
        return seen->n_posts;
}

/* With a file that is not one, unless there is the next one already. */
static void replace_table(void)
{
        char path[PATH_MAX];
        int fd;

        CHECK_EQ(dn__table_copy_path(path), 0);
        CHECK_EQ(unlink(path), 0);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
                close(fd);
}

static void use_another_table(void)
{
        footing before = take_footing();
        uint64_t n_before = posts_of(other), n_seen;
        tally seen = {0};
        dn_observer *observer = observe(dn_center_darwin(), "x", &seen);

        replace_table();
        (void)forget_look(dn_center_darwin());
        fail_from_here();
        WAIT_UNTIL(post_to_other() > n_before);
        WAIT_UNTIL(seen.n_posts > 0);
        n_seen = seen.n_posts;
        WAIT_UNTIL(post_from_other(&seen) > n_seen);
        drop(observer, &seen, before);
}

TEST(anotherTableIsFoundWhicheverCallFails)
{
        begin();
        other = spawn_member("x");
        fail_each(use_another_table);
        end_member(other);
}

/* --- the distributed center ------------------------------------------------------------------- */

static dn_dict *dict_of_key(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_int64(builder, "key", 1);
        return finish(builder);
}

static void use_distributed(void)
{
        footing before = take_footing();
        AUTO_DICT *user_info = dict_of_key();
        dn_center *center = dn_center_distributed();
        tally seen = {0};
        dn_observer *observer;
        int r;

        fail_from_here();
        observer = observe(center, "x", &seen);
        r = TRY(dn_center_post(center, "x", "object", user_info, 0), DN_NOT_CONNECTED);
        if (r >= 0)
                WAIT_UNTIL(seen.n_posts > 0);
        (void)TRY(dn_flush(TEST_DEADLINE_US), -ENOTCONN, -ENOBUFS);
        drop(observer, &seen, before);
}

TEST_ON_BUS(distributedPostsAreHeardWhicheverCallFails)
{
        begin();
        fail_each(use_distributed);
}

/* --- tokens ----------------------------------------------------------------------------------- */

static uint32_t try_token(int kind, const char *name, int *ret_token)
{
        uint32_t status;

        *ret_token = NOTIFY_TOKEN_INVALID;
        is_inside = true;
        status = try_kind(kind, name, ret_token);
        is_inside = false;
        CHECK(status == NOTIFY_STATUS_OK || status == NOTIFY_STATUS_FAILED ||
              status == NOTIFY_STATUS_SERVER_NOT_FOUND);
        CHECK_EQ(notify_is_valid_token(*ret_token), status == NOTIFY_STATUS_OK);
        return status;
}

static void use_tokens(void)
{
        footing before = take_footing();
        char path[PATH_MAX];
        int tokens[N_KINDS];
        uint32_t status;

        snprintf(path, sizeof path, "%s", test_directory());
        fail_from_here();
        for (int kind = 0; kind < N_KINDS; kind++)
                if (try_token(kind, "t", &tokens[kind]) == NOTIFY_STATUS_OK)
                        (void)is_changed(tokens[kind]);
        is_inside = true;
        status = notify_post("t");
        (void)notify_set_state(tokens[KIND_CHECK], 5);
        (void)notify_monitor_file(tokens[KIND_CALLBACK], path, 0);
        is_inside = false;
        CHECK(status == NOTIFY_STATUS_OK || status == NOTIFY_STATUS_FAILED ||
              status == NOTIFY_STATUS_SERVER_NOT_FOUND);
        for (int kind = 0; kind < N_KINDS; kind++)
                if (status == NOTIFY_STATUS_OK && notify_is_valid_token(tokens[kind]))
                        CHECK(is_changed(tokens[kind]));
        if (notify_is_valid_token(tokens[KIND_CHECK]))
                CHECK_EQ(get_state(tokens[KIND_CHECK]), 5);
        shut_down(before);
}

TEST(tokensAreRegisteredCompletelyOrNotAtAllWhicheverCallFails)
{
        begin();
        fail_each(use_tokens);
}

/* --- everything else -------------------------------------------------------------------------- */

static int note_name(const dn_name_record *record, void *context)
{
        return 0;
}

static int stop_at_post(const dn_post_record *record, void *context)
{
        return 7;
}

static void use_watch(void)
{
        static const dn_watcher watcher = {.post = stop_at_post};
        footing before = take_footing();
        dn_watch *watch = NULL;
        char *path = NULL;
        int fd, r;

        fail_from_here();
        (void)TRY(dn_list_names(NULL, note_name, NULL), -EACCES);
        fd = (is_inside = true, dn_find_table(NULL, &path));
        is_inside = false;
        CHECK(fd >= 0 || fd == -ENOENT || fd == -EACCES || is_lack(fd));
        if (fd >= 0)
                close(fd);
        free(path);
        r = TRY(dn_watch_open(NULL, NULL, &watcher, &watch), -ENOTCONN);
        CHECK_EQ(r == 0, watch != NULL);
        while (r == 0) {
                r = TRY(dn_watch_process(watch), -ENOTCONN, -ENOBUFS, 7);
                (void)dn_center_post(dn_center_darwin(), "w", NULL, NULL, 0);
        }
        (void)dn_watch_close(watch);
        shut_down(before);
}

TEST(aWatchEndsWithAListedErrorWhicheverCallFails)
{
        begin();
        fail_each(use_watch);
}

static void use_loop(void)
{
        footing before = take_footing();
        dn_loop *loop = NULL;
        tally seen = {0};
        dn_observer *observer = NULL;
        int r;

        fail_from_here();
        r = TRY(dn_loop_new(&loop), 0);
        CHECK_EQ(r == 0, loop != NULL);
        if (loop) {
                r = TRY(dn_center_observe_prefix(dn_center_darwin(), "p", TALLY_HANDLER(&seen),
                                                 dn_loop_executor(loop), &observer),
                        DN_NOT_CONNECTED);
                if (r >= 0 && post_once(dn_center_darwin(), "p.q") >= 0)
                        WAIT_UNTIL(((void)dn_loop_process(loop), seen.n_posts > 0));
                (void)tally_drop(observer);
                WAIT_UNTIL(((void)dn_loop_process(loop), seen.n_destroyed > 0));
        }
        (void)dn_loop_close(loop);
        shut_down(before);
}

TEST(aLoopRunsItsHandlersWhicheverCallFails)
{
        begin();
        fail_each(use_loop);
}

TEST_MAIN()
