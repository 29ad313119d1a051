/* A watch without a bus moves on when the table is removed or replaced. */
#include "foreign.h"
#include "roles.h"
#include "table-file.h"
#include "watch.h"

#define FLOOD 3000

/* Arguments: a name. Observes it, then posts each name that it reads; for "flood", N many times. */
ROLE(member)
{
        static tally seen;
        char line[64];

        tally_observe(dn_center_darwin(), args[0], &seen);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                bool is_flood = strcmp(line, "flood\n") == 0;
                line[strcspn(line, "\n")] = '\0';
                for (int i = 0; i < (is_flood ? FLOOD : 1); i++)
                        post_soon(dn_center_darwin(), is_flood ? "N" : line);
                printf("posted\n");
        }
        return 0;
}

static test_child *spawn_member(const char *name)
{
        test_child *child = test_spawn_role("member", name, NULL);

        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

static void post_by(test_child *member, const char *name)
{
        CHECK_STREQ(test_child_ask(member, name), "posted");
}

/* Arguments: the prefix to watch. Says "ready", then for each line how many posts of the name in
 * the line it has seen. */
ROLE(watch)
{
        static watch seen;
        char line[64];

        watch_start(&seen, NULL, args[0]);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                printf("%llu\n", (unsigned long long)watch_count(&seen, line));
        }
        return 0;
}

static uint64_t seen_by(test_child *watcher, const char *name)
{
        return strtoull(test_child_ask(watcher, name), NULL, 10);
}

TEST_NO_BUS(postsAreReportedOnceWhenTableAfterTableIsRemoved)
{
        static watch seen;

        begin_without_bus();
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        watch_start(&seen, NULL, NULL);
        for (uint64_t i = 1; i <= 20; i++) {
                post_by(a, "B");
                remove_table();
                post_by(a, "B");
                post_by(b, "A");
                WAIT_UNTIL_EQ(watch_count(&seen, "B"), 2 * i);
                WAIT_UNTIL_EQ(watch_count(&seen, "A"), i);
                WAIT_UNTIL(has_table(a) && has_table(b));
        }
        CHECK(seen.records[0].region != seen.records[seen.n_records - 1].region);
        post_by(a, "A");
        WAIT_UNTIL_EQ(watch_count(&seen, "A"), 21);
        CHECK_EQ(watch_count(&seen, "B"), 40);
        test_child_wait(a);
        test_child_wait(b);
}

/* Nobody else watches over the file, and nobody rings. */
TEST_NO_BUS(aWatchThatIsAloneGoesToTheNextTable)
{
        static watch seen;

        begin_without_bus();
        watch_start(&seen, NULL, NULL);
        for (uint64_t i = 1; i <= 5; i++) {
                remove_table();
                WAIT_UNTIL(is_there());
                test_child *late = spawn_member("N");
                post_by(late, "N");
                WAIT_UNTIL_EQ(watch_count(&seen, "N"), i);
                CHECK_EQ(test_child_wait(late), 0);
        }
}

/* Posts are made before the watch is stopped, and in each table after that. */
static void check_stopped_watch(int n_tables)
{
        begin_without_bus();
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        test_child *watcher = test_spawn_role("watch", "B", NULL);
        uint64_t n_posts = 1;

        CHECK_STREQ(test_child_read_line(watcher), "ready");
        post_by(a, "B");
        WAIT_UNTIL_EQ(seen_by(watcher, "B"), 1);
        test_child_pause(watcher);
        for (int i = 0; i < n_tables; i++) {
                post_by(a, "B");
                remove_table();
                WAIT_UNTIL(has_table(a) && has_table(b));
                post_by(a, "B");
                n_posts += 2;
        }
        test_child_resume(watcher);
        WAIT_UNTIL_EQ(seen_by(watcher, "B"), n_posts);
        WAIT_UNTIL(has_table(watcher));
        post_by(a, "B");
        WAIT_UNTIL_EQ(seen_by(watcher, "B"), n_posts + 1);
        test_child_wait(watcher);
        test_child_wait(a);
        test_child_wait(b);
}

TEST_NO_BUS(aWatchThatWasStoppedReportsThePostsOfBothTables)
{
        check_stopped_watch(1);
}

TEST_NO_BUS(aWatchThatWasStoppedReportsThePostsOfTablesItHasNotSeen)
{
        check_stopped_watch(3);
}

TEST_NO_BUS(aWatchGoesOnWhenTheTableIsReplacedByAnotherFile)
{
        static watch seen;
        char path[512], other[512];
        FILE *file;

        begin_without_bus();
        watch_start(&seen, NULL, NULL);
        CHECK(table_path(path) != 0);
        snprintf(other, sizeof other, "%s/other", test_directory());
        file = fopen(other, "w");
        CHECK(file && fputs("no table", file) > 0 && fclose(file) == 0);
        CHECK_EQ(rename(other, path), 0);
        test_child *member = spawn_member("N");
        post_by(member, "N");
        WAIT_UNTIL_EQ(watch_count(&seen, "N"), 1);
        CHECK_EQ(test_child_wait(member), 0);
}

TEST_NO_BUS(nothingIsLostWhenTheTableIsRemovedInAFlood)
{
        static watch seen;

        begin_without_bus();
        test_child *holder = spawn_member("N"), *poster = spawn_member("M");
        watch_start(&seen, NULL, "N");
        test_child_write_line(poster, "flood");
        for (int i = 0; i < 5; i++) {
                remove_table();
                WAIT_UNTIL(has_table(holder) && has_table(poster));
        }
        CHECK_STREQ(test_child_read_line(poster), "posted");
        WAIT_UNTIL(watch_count(&seen, "N") >= FLOOD);
        test_child_wait(holder);
        test_child_wait(poster);
}

/* The watch also moves on while the bus reports the posts. */
TEST_ON_BUS(theNextTableIsFollowedWhenTheBusIsLost)
{
        need_watches();
        test_bus *bus = test_bus_begin();
        static watch seen;

        test_child *a = spawn_member("A"), *b = spawn_member("B");
        watch_start(&seen, NULL, NULL);
        for (uint64_t i = 1; i <= 3; i++) {
                remove_table();
                WAIT_UNTIL(has_table(a) && has_table(b));
                post_by(a, "B");
                WAIT_UNTIL_EQ(watch_count(&seen, "B"), i);
                CHECK(*seen.records[seen.n_records - 1].sender);
        }
        test_bus_pause(bus);
        post_by(a, "B");
        test_bus_kill(bus);
        WAIT_UNTIL_EQ(watch_count(&seen, "B"), 4);
        remove_table();
        post_by(a, "B");
        WAIT_UNTIL_EQ(watch_count(&seen, "B"), 5);
        CHECK_STREQ(seen.records[seen.n_records - 1].sender, "");
        test_child_wait(a);
        test_child_wait(b);
        test_bus_stop(bus);
}

/* --- A host that closes all descriptors ------------------------------------------------------- */

/* Arguments: a directory. Watches, closes all descriptors, opens others, then says for each line
 * how many posts of the name in the line it has seen. */
ROLE(watchAndCloseAll)
{
        static watch seen;
        char line[64];

        watch_start(&seen, NULL, NULL);
        close_all();
        open_others(args[0]);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                printf("%llu\n", (unsigned long long)watch_count(&seen, line));
        }
        check_others();
        return 0;
}

TEST_NO_BUS(aWatchWhoseDescriptorsWereClosedGoesOnAndLeavesOthersAlone)
{
        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("it takes the closing of descriptors that others use for a race");
        begin_without_bus();
        test_child *member = spawn_member("N");
        test_child *watcher = test_spawn_role("watchAndCloseAll", test_directory(), NULL);
        CHECK_STREQ(test_child_read_line(watcher), "ready");
        for (uint64_t i = 1; i <= 10; i++) {
                if (i == 5)
                        remove_table();
                post_by(member, "N");
                WAIT_UNTIL_EQ(seen_by(watcher, "N"), i);
        }
        CHECK_EQ(test_child_wait(watcher), 0);
        test_child_wait(member);
}

TEST_MAIN()
