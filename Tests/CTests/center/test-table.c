/* The table is removed or replaced while processes use it: they meet again in the next one. */
#include <darwinnotify/inspect.h>
#include <errno.h>
#include <notify.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "roles.h"
#include "table-file.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static void print_state(int token)
{
        uint64_t state;

        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OK);
        printf("%llu\n", (unsigned long long)state);
}

static void print_check(int token)
{
        int check;

        CHECK_EQ(notify_check(token, &check), NOTIFY_STATUS_OK);
        printf("%d\n", check);
}

/* Arguments: name. Observes it, then answers: "post NAME" posts, "posts" says how many were heard,
 * "set N" and "get" are for the state, "check" says whether it was posted. */
ROLE(member)
{
        static tally seen;
        int state_token, check_token, check;
        char line[64];

        tally_observe(dn_center_darwin(), args[0], &seen);
        CHECK_EQ(notify_register_check(args[0], &state_token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_check(args[0], &check_token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_check(check_token, &check), NOTIFY_STATUS_OK);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "post ", 5) == 0)
                        printf("%d\n", dn_center_post(dn_center_darwin(), line + 5, NULL, NULL, 0));
                else if (strncmp(line, "set ", 4) == 0)
                        printf("%u\n", notify_set_state(state_token, strtoull(line + 4, NULL, 10)));
                else if (strcmp(line, "get") == 0)
                        print_state(state_token);
                else if (strcmp(line, "check") == 0)
                        print_check(check_token);
                else
                        printf("%llu\n", (unsigned long long)seen.n_posts);
        }
        return 0;
}

static test_child *spawn_member(const char *name)
{
        test_child *child = test_spawn_role("member", name, NULL);

        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

static uint64_t posts_of(test_child *member)
{
        return strtoull(test_child_ask(member, "posts"), NULL, 10);
}

static void post_by(test_child *member, const char *name)
{
        char line[64];

        snprintf(line, sizeof line, "post %s", name);
        CHECK_STREQ(test_child_ask(member, line), "0");
}

/* --- Without a bus --------------------------------------------------------------------------- */

TEST_NO_BUS(aPostReachesAnotherProcessThroughTheNextTable)
{
        begin_without_bus();
        test_child *a = spawn_member("A"), *b = spawn_member("B");

        post_by(a, "B");
        WAIT_UNTIL_EQ(posts_of(b), 1);
        for (uint64_t i = 1; i <= 5; i++) {
                remove_table();
                post_by(a, "B");
                post_by(b, "A");
                WAIT_UNTIL_EQ(posts_of(b), 1 + i);
                WAIT_UNTIL_EQ(posts_of(a), i);
                WAIT_UNTIL(has_table(a) && has_table(b)); /* nobody asked for it */
        }
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
}

TEST_NO_BUS(nothingIsLostWhileSomeAreInTheNextTable)
{
        begin_without_bus();
        test_child *early = spawn_member("early"), *late = spawn_member("late");

        test_child_pause(late);
        remove_table();
        WAIT_UNTIL(is_there()); /* by the early one */
        for (int i = 0; i < 7; i++)
                post_by(early, "late");
        test_child_resume(late);
        post_by(late, "early"); /* at once, wherever it is */
        WAIT_UNTIL_EQ(posts_of(late), 7);
        WAIT_UNTIL_EQ(posts_of(early), 1);
        CHECK_EQ(test_child_wait(early), 0);
        CHECK_EQ(test_child_wait(late), 0);
}

/* Nobody waits for the others before the next removal: a post too many is allowed. */
TEST_NO_BUS(nothingIsLostWhileTableAfterTableIsRemoved)
{
        char path[512];

        begin_without_bus();
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        for (uint64_t i = 1; i <= 50; i++) {
                if (table_path(path))
                        (void)unlink(path);
                post_by(a, "B");
                post_by(b, "A");
                WAIT_UNTIL(posts_of(b) >= i);
                WAIT_UNTIL(posts_of(a) >= i);
        }
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
}

TEST_NO_BUS(aNewProcessMeetsThoseOfTheTableBefore)
{
        begin_without_bus();
        test_child *before = spawn_member("before");

        remove_table();
        WAIT_UNTIL(is_there());
        test_child *after = spawn_member("after");
        post_by(before, "after");
        post_by(after, "before");
        WAIT_UNTIL_EQ(posts_of(after), 1);
        WAIT_UNTIL_EQ(posts_of(before), 1);
        CHECK_EQ(test_child_wait(before), 0);
        CHECK_EQ(test_child_wait(after), 0);
}

TEST_NO_BUS(statesAndChecksGoOnInTheNextTable)
{
        begin_without_bus();
        test_child *a = spawn_member("N"), *b = spawn_member("N");

        CHECK_STREQ(test_child_ask(a, "set 5"), "0");
        remove_table();
        WAIT_UNTIL(is_there());
        CHECK_STREQ(test_child_ask(b, "get"), "5");
        CHECK_STREQ(test_child_ask(b, "check"), "0");
        CHECK_STREQ(test_child_ask(b, "set 6"), "0");
        WAIT_UNTIL(strcmp(test_child_ask(a, "get"), "6") == 0);
        post_by(a, "N");
        WAIT_UNTIL(strcmp(test_child_ask(b, "check"), "1") == 0);
        CHECK_EQ(test_child_wait(a), 0);
        test_child *c = spawn_member("N");
        CHECK_STREQ(test_child_ask(c, "get"), "6");
        CHECK_EQ(test_child_wait(b), 0);
        CHECK_EQ(test_child_wait(c), 0);
}

TEST_NO_BUS(theDirectoryOfTheTableMayBeRemovedOrRenamed)
{
        char path[512], other[512];

        begin_without_bus();
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        remove_table();
        (void)rmdir(table_directory()); /* unless somebody was faster */
        WAIT_UNTIL(has_table(a) && has_table(b));
        post_by(a, "B");
        WAIT_UNTIL_EQ(posts_of(b), 1);
        snprintf(other, sizeof other, "%s-before", table_directory());
        CHECK_EQ(rename(table_directory(), other), 0);
        WAIT_UNTIL(has_table(a) && has_table(b));
        post_by(a, "B");
        WAIT_UNTIL_EQ(posts_of(b), 2);
        post_by(b, "A");
        WAIT_UNTIL_EQ(posts_of(a), 1);
        CHECK(table_path(path) != 0);
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
}

TEST_NO_BUS(aFileInThePlaceOfTheTableIsReplaced)
{
        char path[512], other[512];
        FILE *file;

        begin_without_bus();
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        ino_t before = table_path(path);
        snprintf(other, sizeof other, "%s/other", test_directory());
        file = fopen(other, "w");
        CHECK(file && fputs("no table", file) > 0 && fclose(file) == 0);
        CHECK_EQ(rename(other, path), 0);
        struct stat status;
        WAIT_UNTIL(stat(path, &status) == 0 && status.st_ino != before && status.st_size > 4096);
        post_by(a, "B");
        WAIT_UNTIL_EQ(posts_of(b), 1);
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
}

/* Those that watch over the file ring all others. */
TEST_NO_BUS(manyProcessesMeetInTheNextTable)
{
        enum { N = 12 };
        test_child *members[N];
        char name[16];

        begin_without_bus();
        for (int i = 0; i < N; i++) {
                snprintf(name, sizeof name, "N%d", i);
                members[i] = spawn_member(name);
        }
        remove_table();
        WAIT_UNTIL(is_there());
        for (int i = 0; i < N; i++) {
                snprintf(name, sizeof name, "N%d", (i + 1) % N);
                post_by(members[i], name);
        }
        for (int i = 0; i < N; i++)
                WAIT_UNTIL_EQ(posts_of(members[i]), 1);
        for (int i = 0; i < N; i++)
                CHECK_EQ(test_child_wait(members[i]), 0);
}

/* As the specification of the directory has it: a file with this bit is not cleaned away by age. */
TEST_NO_BUS(theTableIsKeptFromCleaningByAge)
{
        struct stat status;
        char path[512];

        begin_without_bus();
        post_ok(dn_center_darwin(), "N");
        CHECK(table_path(path) != 0);
        CHECK_EQ(stat(path, &status), 0);
        CHECK(status.st_mode & S_ISVTX);
}

/* --- What fails is tried again ------------------------------------------------------------- */

static uint64_t statistic(int number)
{
        uint64_t value = UINT64_MAX;

        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), number, &value), 0);
        return value;
}

/* Nobody does anything after the cause is gone. */
TEST_NO_BUS(aTableThatCouldNotBeMadeComesLater)
{
        static tally seen;
        struct rlimit before, lower;
        dn_observer *observer = NULL;

        begin_without_bus();
        CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
        lower = (struct rlimit){1 << 20, before.rlim_max};
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "N", tally_handler(&seen), NULL, &observer),
                 -ENOTCONN);
        CHECK_EQ(statistic(DN_STATISTIC_TABLES), 0);
        CHECK_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 1);
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_TABLES), 1);
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 0);
        test_child *member = spawn_member("M");
        /* What was posted before the table came is not known. */
        WAIT_UNTIL(seen.n_posts > 0);
        fence_executor();
        uint64_t n_before = seen.n_posts;
        post_by(member, "N");
        WAIT_UNTIL_EQ(seen.n_posts, n_before + 1);
        CHECK_EQ(test_child_wait(member), 0);
}

/* Arguments: name, number of descriptors that may be opened. Uses the table when that fails, then
 * has no limit, and is a member as soon as it has the table. */
ROLE(lateMember)
{
        static tally seen;
        struct rlimit before, lower;
        dn_observer *observer = NULL;
        int token, r;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        lower = (struct rlimit){STDERR_FILENO + 1 + strtoul(args[1], NULL, 10), before.rlim_max};
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
        r = dn_center_observe(dn_center_darwin(), args[0], tally_handler(&seen), NULL, &observer);
        CHECK(r == 0 || dn_is_offline(r) || r == -ENOMEM);
        CHECK((r == -ENOMEM) == !observer);
        (void)notify_register_check(args[0], &token);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (observer) {
                WAIT_UNTIL_EQ(statistic(DN_STATISTIC_TABLES), 1);
                WAIT_UNTIL_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 0);
        }
        return role_member(n_args, args);
}

static int count_holders(const dn_name_record *record, void *context)
{
        if (strcmp(record->name, "N") == 0)
                *(size_t *)context = record->n_holders;
        return 0;
}

/* Whichever step of the first use it was that found no descriptor. */
TEST(aTableForWhichThereWasNoDescriptorComesLater)
{
        test_bus *bus = test_bus_begin();
        test_child *neighbor = spawn_member("N");
        uint64_t n_posts = 0;
        char n_free[8];

        for (int i = 0; i <= 10; i++) {
                size_t n_holders = 0;

                snprintf(n_free, sizeof n_free, "%d", i);
                test_child *late = test_spawn_role("lateMember", "N", n_free, NULL);
                CHECK_STREQ(test_child_read_line(late), "ready");
                CHECK(has_table(late));
                CHECK_EQ(dn_list_names(NULL, count_holders, &n_holders), 0);
                CHECK_EQ(n_holders, 2);
                CHECK_STREQ(test_child_ask(neighbor, "set 5"), "0");
                CHECK_STREQ(test_child_ask(late, "get"), "5");
                CHECK_STREQ(test_child_ask(late, "set 6"), "0");
                CHECK_STREQ(test_child_ask(neighbor, "get"), "6");
                post_by(late, "N");
                n_posts++;
                WAIT_UNTIL_EQ(posts_of(neighbor), n_posts);
                CHECK_STREQ(test_child_ask(neighbor, "check"), "1");
                CHECK_EQ(test_child_wait(late), 0);
        }
        CHECK_EQ(test_child_wait(neighbor), 0);
        test_bus_stop(bus);
}

/* --- With a bus ------------------------------------------------------------------------------ */

TEST(aPostIsHeardOnceWhileItsObserverIsStillInTheTableBefore)
{
        need_watches();
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));

        test_peer_watch(peer, TEST_WIRE_RULE);
        test_child *early = spawn_member("early"), *late = spawn_member("late");
        test_child_pause(late);
        remove_table();
        WAIT_UNTIL(is_there());
        for (int i = 0; i < 3; i++)
                post_by(early, "late");
        test_child_resume(late);
        post_by(late, "early");
        WAIT_UNTIL_EQ(posts_of(late), 3);
        WAIT_UNTIL_EQ(posts_of(early), 1);
        fence_bus(peer);
        post_by(early, "late");
        WAIT_UNTIL_EQ(posts_of(late), 4);
        fence_bus(peer);
        CHECK_EQ(posts_of(late), 4);
        CHECK_EQ(posts_of(early), 1);
        CHECK_EQ(test_child_wait(early), 0);
        CHECK_EQ(test_child_wait(late), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

/* As with a library that has another version of the table: the bus is the same, the table is not.
 * A second link to the socket makes an address of its own. */
TEST_ON_BUS(processesWithDifferentTablesHearOneAnotherOnce)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        char path[256], address[300];

        test_peer_watch(peer, TEST_WIRE_RULE);
        test_child *a = spawn_member("A");
        snprintf(path, sizeof path, "%s/other-socket", test_directory());
        CHECK_EQ(link(test_bus_path(bus), path), 0);
        snprintf(address, sizeof address, "unix:path=%s", path);
        setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
        test_child *b = spawn_member("B");
        for (uint64_t i = 1; i <= 20; i++) {
                post_by(a, "B");
                post_by(b, "A");
                WAIT_UNTIL_EQ(posts_of(b), i);
                WAIT_UNTIL_EQ(posts_of(a), i);
        }
        fence_bus(peer);
        CHECK_EQ(posts_of(b), 20);
        CHECK_EQ(posts_of(a), 20);
        CHECK(has_table(a) && !has_table(b));
        CHECK_EQ(test_child_wait(a), 0);
        CHECK_EQ(test_child_wait(b), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_MAIN()
