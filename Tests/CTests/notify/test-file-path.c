/* Changes along the path of a watched file. */
#include <linux/capability.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "watched.h"

TEST_NO_BUS(anAtomicReplacementIsSeen)
{
        put("f", 0, "text");
        watch_as(0, "f", NOTIFY_MONITOR_RENAME);
        watch_as(1, "f", NOTIFY_MONITOR_WRITE);
        for (unsigned i = 0; i < 3; i++) {
                put("new", O_TRUNC, "text");
                CHECK_EQ(rename(at("new"), at("f")), 0);
                expect_call(0, i);
                expect_call(1, i);
                fence();
                CHECK_EQ(n_calls[0], i + 1);
        }
        put("f", O_APPEND, "text");
        expect_call(1, 3);
}

TEST_NO_BUS(fileInMissingDirectoriesIsSeenWhenAllExist)
{
        watch_as(0, "a/b/c/f", NOTIFY_MONITOR_CREATE);
        make_directory("a");
        fence();
        make_directory("a/b");
        fence();
        make_directory("a/b/c");
        fence();
        CHECK_EQ(n_calls[0], 0);
        put("a/b/c/f", 0, "");
        expect_call(0, 0);
}

TEST_NO_BUS(renamedParentRemovesTheFileAndRestoresIt)
{
        make_directory("a");
        make_directory("a/b");
        put("a/b/f", 0, "text");
        watch_as(0, "a/b/f", NOTIFY_MONITOR_DELETE);
        watch_as(1, "a/b/f", NOTIFY_MONITOR_CREATE);
        CHECK_EQ(rename(at("a"), at("z")), 0);
        expect_call(0, 0);
        put("z/b/f", O_APPEND, "text");
        fence();
        CHECK_EQ(n_calls[0], 1);
        CHECK_EQ(n_calls[1], 0);
        CHECK_EQ(rename(at("z"), at("a")), 0);
        expect_call(1, 0);
}

static void retarget(const char *link, const char *target)
{
        (void)unlink(at("new-link"));
        CHECK_EQ(symlink(target, at("new-link")), 0);
        CHECK_EQ(rename(at("new-link"), at(link)), 0);
}

TEST_NO_BUS(retargetedLinkIsSeen)
{
        make_directory("a");
        make_directory("b");
        put("a/f", 0, "text");
        put("b/f", 0, "text");
        retarget("d", "a");
        watch_as(0, "d/f", 0);
        retarget("d", at("b"));
        expect_call(0, 0);
        fence();
        CHECK_EQ(n_calls[0], 1);
        put("a/f", O_APPEND, "text");
        fence();
        CHECK_EQ(n_calls[0], 1);
        put("b/f", O_APPEND, "text");
        expect_call(0, 1);
}

TEST_NO_BUS(theTargetOfAChainOfLinksIsWatched)
{
        make_directory("a");
        make_directory("b");
        retarget("one", "a/../b/two");
        retarget("b/two", at("a/three"));
        watch_as(0, "./one", 0);
        put("a/three", 0, "");
        expect_call(0, 0);
        put("a/three", O_APPEND, "text");
        expect_call(0, 1);
        retarget("b/two", "nothing");
        expect_call(0, 2);
        put("b/nothing", 0, "");
        expect_call(0, 3);
}

/* Call before the library starts a thread, which inherits this. */
static void respect_modes(void)
{
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct none[2] = { 0 };

        CHECK_EQ(syscall(SYS_capset, &header, none), 0);
}

TEST_NO_BUS(unreachableFileCountsAsDeleted)
{
        respect_modes();
        make_directory("a");
        make_directory("a/b");
        put("a/b/f", 0, "text");
        watch_as(0, "a/b/f", NOTIFY_MONITOR_REVOKE);
        watch_as(1, "a/b/f", NOTIFY_MONITOR_CREATE);
        CHECK_EQ(chmod(at("a"), 0), 0);
        expect_call(0, 0);
        fence(); /* the other one has also looked */
        CHECK_EQ(chmod(at("a"), 0700), 0);
        expect_call(1, 0);
}

TEST_NO_BUS(unreadableFileIsWatchedToo)
{
        int fd;

        respect_modes();
        put("f", 0, "text");
        fd = open(at("f"), O_WRONLY | O_APPEND | O_CLOEXEC);
        CHECK_EQ(chmod(at("f"), 0200), 0);
        watch_as(0, "f", NOTIFY_MONITOR_EXTEND);
        CHECK_EQ(write(fd, "text", 4), 4);
        expect_call(0, 0);
        CHECK_EQ(chmod(at("f"), 0600), 0);
        fence();
        CHECK_EQ(write(fd, "text", 4), 4);
        expect_call(0, 1);
        close(fd);
}

#define N_RACES 50
static _Atomic int n_started;

static void make_file_of(int number)
{
        make_directory(FORMAT("d%d", number));
        put(FORMAT("d%d/f", number), 0, "");
}

static void *make_files(void *nothing)
{
        for (int i = 0; i < N_RACES; i++) {
                while (n_started <= i)
                        continue;
                make_file_of(i);
        }
        return nothing;
}

TEST_NO_BUS(fileCreatedDuringRegistrationIsNotMissed)
{
        pthread_t thread = test_start_thread(make_files, NULL);
        for (int i = 0; i < N_RACES; i++) {
                n_started = i + 1;
                watch_as(i, FORMAT("d%d/f", i), NOTIFY_MONITOR_DELETE);
        }
        CHECK_EQ(pthread_join(thread, NULL), 0);
        fence();
        for (int i = 0; i < N_RACES; i++)
                CHECK_EQ(unlink(at(FORMAT("d%d/f", i))), 0);
        for (int i = 0; i < N_RACES; i++)
                expect_call(i, 0);
}

TEST_NO_BUS(changingPathLeavesNoWatchesBehind)
{
        unsigned n;

        make_directory("a");
        put("a/f", 0, "text");
        retarget("d", "a");
        watch_as(0, "d/f", 0);
        n = n_inotify_watches();
        for (unsigned i = 0; i < 3; i++) {
                CHECK_EQ(rename(at("a"), at("z")), 0);
                expect_call(0, 2 * i);
                WAIT_UNTIL(n_inotify_watches() < n);
                CHECK_EQ(rename(at("z"), at("a")), 0);
                expect_call(0, 2 * i + 1);
                WAIT_UNTIL_EQ(n_inotify_watches(), n);
        }
}

TEST_MAIN()
