/* Whatever becomes of the table's file and its directories, their users meet again in one table.
 * With a bus, they hear each other meanwhile. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "member.h"
#include "roles.h"
#include "shm.h"
#include "table-file.h"

#define USER 65534

/* --- Harm ----------------------------------------------------------------------------------- */

static char table[512], directory[300], runtime[256], elsewhere[300];
static test_bus *bus;

static void move_away(const char *path)
{
        CHECK_EQ(rename(path, elsewhere), 0);
}

static void write_file(const char *path)
{
        FILE *file = fopen(path, "w");

        CHECK(file && fputs("no table", file) >= 0 && fclose(file) == 0);
}

static void remove_file(void)
{
        CHECK_EQ(unlink(table), 0);
}

static void rename_file(void)
{
        move_away(table);
}

static void replace_by_text(void)
{
        write_file(elsewhere);
        CHECK_EQ(rename(elsewhere, table), 0);
}

static void replace_by_another_table(void)
{
        AUTO_REGION *other = enter_table("another bus");

        CHECK_EQ(rename(other->file.path, table), 0);
}

static void replace_by_a_link_to_itself(void)
{
        move_away(table);
        CHECK_EQ(symlink(elsewhere, table), 0);
}

static void replace_by_a_pipe(void)
{
        remove_file();
        CHECK_EQ(mkfifo(table, 0600), 0);
}

static void replace_by_a_directory(void)
{
        remove_file();
        CHECK_EQ(mkdir(table, 0700), 0);
        CHECK_EQ(mkdir(FORMAT("%s/full", table), 0700), 0);
}

static void make_the_file_unreadable(void)
{
        CHECK_EQ(chmod(table, 0), 0);
}

static void damage_the_header(void)
{
        AUTO_REGION *region = enter_table(test_bus_address(bus));

        region->table->n_processes_used = UINT64_MAX;
}

static void remove_the_directory(void)
{
        test_remove_tree(directory);
}

static void rename_the_directory(void)
{
        move_away(directory);
}

static void replace_the_directory_by_a_link_to_it(void)
{
        move_away(directory);
        CHECK_EQ(symlink(elsewhere, directory), 0);
}

static void replace_the_directory_by_a_file(void)
{
        move_away(directory);
        write_file(directory);
}

static void make_the_directory_unreadable(void)
{
        CHECK_EQ(chmod(directory, 0), 0);
}

static void remove_the_tree(void)
{
        test_remove_tree(runtime);
}

static void replace_the_tree(void)
{
        move_away(runtime);
        CHECK_EQ(mkdir(runtime, 0700), 0);
}

/* --- Those who meet again ------------------------------------------------------------------- */

/* Without a bus: as an ordinary user, from whom files can be kept. */
static void become_user(void)
{
        test_bus_use_nothing();
        test_roles_run_copy("/run/user/program");
        snprintf(runtime, sizeof runtime, "/run/user/%d", USER);
        CHECK_EQ(chmod("/run/user", 0777), 0);
        if (setresgid(USER, USER, USER) < 0 || setresuid(USER, USER, USER) < 0)
                snprintf(runtime, sizeof runtime, "/run/user/%d", (int)geteuid());
        CHECK_EQ(mkdir(runtime, 0700), 0);
        setenv("XDG_RUNTIME_DIR", runtime, 1);
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
}

static void begin_with(const char *kind)
{
        bus = test_bus_start(kind, NULL);
        test_bus_use(bus);
        if (test_bus_is_none(bus))
                become_user();
        else
                snprintf(runtime, sizeof runtime, "%s", test_bus_directory(bus));
        snprintf(directory, sizeof directory, "%s", table_directory());
        snprintf(elsewhere, sizeof elsewhere, "%s-elsewhere", runtime);
}

static void begin(void)
{
        begin_with("none");
}

static void hear(test_child *const *members, size_t n, void (*harm)(void))
{
        uint64_t before[4];

        for (size_t i = 0; i < n; i++)
                before[i] = posts_of(members[i]);
        if (harm)
                harm();
        post_ok(dn_center_darwin(), "A");
        for (size_t i = 0; i < n; i++)
                WAIT_UNTIL(posts_of(members[i]) > before[i]);
}

/* Returns whether they have one table, where a name has one state. */
static bool share(test_child *first, test_child *second)
{
        static unsigned state;

        CHECK_EQ(ask(first, FORMAT("set %u", ++state)), 0);
        return ask(second, "get") == state;
}

/* Each looks as if the last time was long ago; without a bus, posts are missed until then. */
static void look_again(test_child *const *members, size_t n)
{
        forget_look(dn_center_darwin());
        for (size_t i = 0; i < n; i++) {
                look_later(members[i]);
                post_by(members[i], "something");
        }
}

/* This process only posts. One member is stopped, and one comes later. */
static void check_that_they_meet(void (*harm)(void))
{
        test_child *members[] = {spawn_member("A"), spawn_member("A"), spawn_member("A"), NULL};
        test_child *stopped = members[2];

        CHECK(table_path(table) != 0);
        hear(members, 3, NULL);
        test_child_pause(stopped);
        hear(members, 2, harm);
        members[3] = spawn_member("A");
        if (test_bus_is_none(bus) || access(test_bus_path(bus), F_OK) < 0)
                look_again(members, 2); /* it is not on the bus */
        hear((test_child *[]){members[0], members[1], members[3]}, 3, NULL);
        test_child_resume(stopped);
        look_again(members, 4);
        for (int i = 0; i < 4; i++)
                WAIT_UNTIL(share(members[i], members[(i + 1) % 4]));
        hear(members, 4, NULL);
        for (int i = 0; i < 4; i++)
                end_member(members[i]);
}

/* Each in a process of its own, since begin() cannot be undone. */
static void check_all(void (*const *harms)(void), size_t n)
{
        for (size_t i = 0; i < n; i++) {
                pid_t pid = test_fork();

                if (pid == 0) {
                        begin_with(NULL);
                        check_that_they_meet(harms[i]);
                        _exit(0);
                }
                int status = test_wait_for(pid);
                SKIP_IF(status == TEST_STATUS_SKIPPED, "this user cannot mount");
                if (status != 0)
                        test_fail(__FILE__, __LINE__, "harm %zu: status %d", i, status);
        }
}

#define CHECK_ALL(...)                                                                             \
        do {                                                                                       \
                void (*const harms[])(void) = {__VA_ARGS__};                                       \
                check_all(harms, sizeof harms / sizeof *harms);                                    \
        } while (0)

TEST(processesMeetAgainWhateverReplacesTheTable)
{
        CHECK_ALL(rename_file, replace_by_text, replace_by_another_table,
                  replace_by_a_link_to_itself, replace_by_a_pipe, replace_by_a_directory,
                  make_the_file_unreadable, damage_the_header);
}

TEST(processesMeetAgainWhateverReplacesTheDirectory)
{
        CHECK_ALL(remove_the_directory, rename_the_directory,
                  replace_the_directory_by_a_link_to_it, replace_the_directory_by_a_file,
                  make_the_directory_unreadable, remove_the_tree, replace_the_tree);
}

/* --- Directories ------------------------------------------------------------------------------ */

static void log_in(void)
{
        CHECK_EQ(mkdir(runtime, 0700), 0);
        setenv("XDG_RUNTIME_DIR", runtime, 1);
}

/* A process may make its table there meanwhile. */
static void remove_runtime(void)
{
        WAIT_UNTIL((test_remove_tree(runtime), access(runtime, F_OK) < 0));
}

static void log_out(void)
{
        remove_runtime();
        unsetenv("XDG_RUNTIME_DIR");
}

static void check_that_they_share(test_child *first, test_child *second)
{
        WAIT_UNTIL(share(first, second) && share(second, first));
        hear((test_child *[]){first, second}, 2, NULL);
}

TEST_NO_BUS(aProcessFromBeforeTheLoginSharesTheTableThroughLogoutAndLogin)
{
        begin();
        log_out();
        test_child *before = spawn_member("A");
        log_in();
        test_child *first = spawn_member("A");
        check_that_they_share(before, first);
        end_member(first);
        log_out();
        log_in();
        test_child *second = spawn_member("A");
        check_that_they_share(before, second);
        end_member(before);
        end_member(second);
}

TEST_NO_BUS(aProcessMayLiveThroughALogoutThatRemovesItsTable)
{
        begin();
        test_child *lives = spawn_member("A");
        log_out();
        hear((test_child *[]){lives}, 1, NULL);
        log_in();
        test_child *next = spawn_member("A");
        look_later(lives);
        post_by(lives, "something"); /* it looks, and meets the next one */
        check_that_they_share(lives, next);
        end_member(lives);
        end_member(next);
}

/* A bus that ends with the directory is found again with the next one. */
TEST_ON_BUS(aProcessMayLiveThroughALogoutThatTakesItsBus)
{
        begin_with(NULL);
        test_child *lives = spawn_member("A");
        test_bus_kill(bus);
        remove_runtime();
        hear((test_child *[]){lives}, 1, NULL);
        CHECK_EQ(mkdir(runtime, 0700), 0);
        test_bus_start_again(bus);
        test_child *next = spawn_member("A");
        check_that_they_share(lives, next);
        end_member(lives);
        end_member(next);
}

/* --- Posters ---------------------------------------------------------------------------------- */

/* It has never had a table and finds none: the observer is notified as it moves. */
TEST(aSinglePostRightAfterARemovalIsHeard)
{
        test_bus_begin();
        test_child *observer = spawn_member("A");
        remove_table();
        look_later(observer);
        post_elsewhere("A", 1, "_exit");
        WAIT_UNTIL(posts_of(observer) > 0);
        end_member(observer);
}

/* Arguments: name. Posts it all the time, until it reads a line; then once for each line. */
ROLE(postOn)
{
        int flags = fcntl(STDIN_FILENO, F_GETFL);
        char byte, line[8];

        CHECK_EQ(fcntl(STDIN_FILENO, F_SETFL, flags | O_NONBLOCK), 0);
        printf("posting\n");
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) < 0)
                CHECK_EQ(dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0), 0);
        CHECK_EQ(fcntl(STDIN_FILENO, F_SETFL, flags), 0);
        printf("resting\n");
        while (fgets(line, sizeof line, stdin))
                printf("%d\n", dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0));
        return 0;
}

/* A removal as soon as one of the observers, not always the same one, is in the next table. The
 * last posts follow the last removal at once. */
TEST_ON_BUS(lastPostsAreHeardAmidTwelveRemovals)
{
        test_bus_begin();
        test_child *observers[] = {spawn_member("A"), spawn_member("B")};
        test_child *posters[] = {test_spawn_role("postOn", "A", NULL),
                                 test_spawn_role("postOn", "B", NULL)};

        for (int i = 0; i < 2; i++)
                CHECK_STREQ(test_child_read_line(posters[i]), "posting");
        for (int i = 0; i < 12; i++) {
                look_later(observers[i % 2]);
                WAIT_UNTIL((post_by(observers[i % 2], "C"), is_there()));
                if (i == 11)
                        for (int j = 0; j < 2; j++)
                                CHECK_STREQ(test_child_ask(posters[j], ""), "resting");
                remove_table();
        }
        for (int i = 0; i < 2; i++) {
                uint64_t before = posts_of(observers[i]);
                CHECK_STREQ(test_child_ask(posters[i], ""), "0");
                WAIT_UNTIL(posts_of(observers[i]) > before);
                CHECK_EQ(test_child_wait(posters[i]), 0);
        }
        end_member(observers[0]);
        end_member(observers[1]);
}

/* --- Waits ------------------------------------------------------------------------------------ */

static _Atomic bool has_registered;

static void *register_name(void *name)
{
        static tally seen;

        tally_observe_soon(dn_center_darwin(), name, &seen);
        has_registered = true;
        return NULL;
}

/* Another process was stopped while it changed the set of a name, and the table is removed. Returns
 * whether the posts have returned before the registration. */
static bool post_during_a_registration(dn__region *other, char *name)
{
        size_t set = set_of(name);
        uint64_t n_before = test_n_switches_of_others();
        bool was_first;

        other->table->owners[set] = other->owner;
        has_registered = false;
        pthread_t thread = test_start_thread(register_name, name);
        WAIT_UNTIL(has_registered || test_n_switches_of_others() > n_before + 50);
        remove_table();
        forget_look(dn_center_darwin());
        WAIT_UNTIL((post_ok(dn_center_darwin(), "B"), is_there()));
        was_first = !has_registered;
        CHECK_EQ(pthread_join(thread, NULL), 0);
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 0);
        return was_first;
}

/* On a machine that stands still the registration gives up meanwhile. */
TEST_NO_BUS(aPostDoesNotWaitForARegistrationThatWaits)
{
        static tally seen;
        char name[] = "a";
        bool was_first = false;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "B", &seen);
        for (; !was_first && name[0] < 'h'; name[0]++) {
                dn__region *other = enter_table("none");

                was_first = post_during_a_registration(other, name);
                dn__region_close(other);
        }
        CHECK(was_first);
}

/* --- Privileges ------------------------------------------------------------------------------- */

/* Returns whether a descriptor of the process could write to the table. */
static bool can_write(ino_t inode)
{
        struct stat status;

        for (int fd = 0; fd < 1024; fd++)
                if (fstat(fd, &status) == 0 && status.st_ino == inode &&
                    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
                        return true;
        return false;
}

TEST(noDescriptorOfTheTableIsLeftToWhoGivesUpPrivileges)
{
        static tally seen;

        SKIP_IF(geteuid() != 0, "only root has privileges to give up");
        test_bus_begin();
        tally_observe(dn_center_darwin(), "A", &seen);
        ino_t inode = table_path(table);
        CHECK(inode != 0);
        CHECK(!can_write(inode));
        CHECK_EQ(setresuid(USER, USER, USER), 0);
        CHECK(!can_write(inode));
        post_ok(dn_center_darwin(), "A");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        CHECK(!can_write(inode));
}

TEST_MAIN()
