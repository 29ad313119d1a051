/* Changes of a watched file. */
#include "notify/file-watch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "test-child.h"
#include "watched.h"

/* Instead of those of the C library. */
static _Atomic unsigned n_descriptors, n_listened_to_counted;
static _Atomic int last_descriptor;
static const char *_Atomic counted;
static _Atomic bool is_refused;

int inotify_init1(int flags)
{
        int fd;

        if (is_refused) {
                errno = EMFILE;
                return -1;
        }
        fd = (int)syscall(SYS_inotify_init1, flags);
        n_descriptors++;
        last_descriptor = fd;
        return fd;
}

int inotify_add_watch(int fd, const char *path, uint32_t events)
{
        const char *wanted = counted;

        n_listened_to_counted += wanted && strcmp(path, wanted) == 0;
        return (int)syscall(SYS_inotify_add_watch, fd, path, events);
}

static void overwrite(void)
{
        put("f", 0, "TEXT");
}

static void append(void)
{
        put("f", O_APPEND, "text");
}

static void cut(void)
{
        CHECK_EQ(truncate(at("f"), 1), 0);
}

static void write_mapped(void)
{
        int fd = open(at("f"), O_RDWR | O_CLOEXEC);
        char *bytes = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        CHECK(bytes != MAP_FAILED);
        CHECK_EQ(close(fd), 0);
        bytes[0] = 'T';
        CHECK_EQ(munmap(bytes, 4), 0);
}

static void change_mode(void)
{
        CHECK_EQ(chmod(at("f"), 0600), 0);
}

static void add_link(void)
{
        CHECK_EQ(link(at("f"), at("g")), 0);
}

static void delete(void)
{
        CHECK_EQ(unlink(at("f")), 0);
}

static void create_empty(void)
{
        put("f", 0, "");
}

#define WRITTEN (NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_MTIME | NOTIFY_MONITOR_CTIME)

/* Each change is that of the file which the one before has left. */
TEST_NO_BUS(eachChangeIsSeenAsWhatItIs)
{
        static const struct {
                void (*change)(void);
                unsigned flags;
        } changes[] = {
                { create_empty, NOTIFY_MONITOR_CREATE },
                { append, WRITTEN | NOTIFY_MONITOR_EXTEND },
                { overwrite, WRITTEN },
                { write_mapped, WRITTEN }, /* seen when it is unmapped */
                { cut, WRITTEN },
                { change_mode, NOTIFY_MONITOR_ATTRIB | NOTIFY_MONITOR_CTIME },
                { add_link, NOTIFY_MONITOR_LINK | NOTIFY_MONITOR_CTIME },
                { delete, NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_RENAME },
        };

        for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
                unsigned flags = changes[i].flags;
                dn__file_watch *all = watch_as(0, "f", 0), *some = watch_as(1, "f", flags);
                dn__file_watch *others = watch_as(2, "f", NOTIFY_MONITOR_ALL & ~flags);
                unsigned n_all = n_calls[0], n_some = n_calls[1];

                changes[i].change();
                expect_call(0, n_all);
                expect_call(1, n_some);
                fence();
                CHECK_EQ(n_calls[2], 0);
                dn__file_watch_free(all);
                dn__file_watch_free(some);
                dn__file_watch_free(others);
        }
}

TEST_NO_BUS(anEntryOfAWatchedDirectoryIsSeen)
{
        make_directory("d");
        watch_as(0, "d", NOTIFY_MONITOR_WRITE);
        put("d/f", 0, "");
        expect_call(0, 0);
}

TEST_NO_BUS(neighboursOfTheFileAreIgnored)
{
        put("f", 0, "text");
        fence(); /* another write in the same tick of the clock would not be seen in its time */
        watch_as(0, "f", 0);
        put("f2", 0, "text");
        CHECK_EQ(unlink(at("f2")), 0);
        fence();
        CHECK_EQ(n_calls[0], 0);
}

/* In the directories on its path, only events of its own names concern a file. */
TEST_NO_BUS(filesOfOtherNamesInAParentDirectoryCauseNoLook)
{
        static char path[512];
        unsigned n;

        make_directory("d");
        put("d/f", 0, "text");
        fence();
        CHECK(snprintf(path, sizeof(path), "%s", at("d/f")) < 512);
        counted = path;
        watch_as(0, "d/f", 0);
        n = n_listened_to_counted;
        CHECK(n > 0);
        for (int i = 0; i < 3; i++) {
                put("other", 0, "text");
                put("d/other", 0, "text");
                CHECK_EQ(chmod(at("d/other"), 0600), 0);
                CHECK_EQ(unlink(at("d/other")), 0);
                CHECK_EQ(unlink(at("other")), 0);
                fence();
        }
        CHECK_EQ(n_listened_to_counted, n);
        put("d/f", O_APPEND, "text");
        expect_call(0, 0);
        CHECK(n_listened_to_counted > n);
}

/* Closing one may take seconds. */
TEST_NO_BUS(allChangesAreSeenThroughOneDescriptor)
{
        make_directory("d");
        put("d/f", 0, "text");
        for (unsigned i = 0; i < 3; i++) {
                dn__file_watch *watch = watch_as(0, "d/f", NOTIFY_MONITOR_DELETE);

                CHECK_EQ(rename(at("d"), at("e")), 0);
                expect_call(0, i);
                CHECK_EQ(rename(at("e"), at("d")), 0);
                dn__file_watch_free(watch);
        }
        fence();
        CHECK_EQ(n_descriptors, 1);
}

/* Returns when the thread only waits: in the middle of reading, it would read from the file of the
 * host. */
static void fence_and_rest(void)
{
        fence();
        WAIT_UNTIL(test_others_rest());
}

TEST_NO_BUS(watchesGoOnWhenTheHostHasTakenTheDescriptor)
{
        int fds[2], taken;
        char text[8];

        put("f", 0, "text");
        watch_as(0, "f", 0);
        fence_and_rest();
        taken = last_descriptor;
        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(write(fds[1], "host", 4), 4);
        CHECK_EQ(dup2(fds[0], taken), taken);
        append();
        expect_call(0, 0);
        append();
        expect_call(0, 1);
        CHECK(last_descriptor != taken);
        CHECK_EQ(read(taken, text, sizeof(text)), 4);
}

TEST_NO_BUS(watchesGoOnWhenTheHostHasTakenTheLastDescriptor)
{
        int fds[2], taken;

        put("f", 0, "text");
        watch_as(0, "f", 0);
        fence_and_rest();
        taken = last_descriptor;
        CHECK_EQ(pipe(fds), 0);
        is_refused = true;
        CHECK_EQ(dup2(fds[0], taken), taken);
        CHECK_EQ(write(fds[1], "host", 4), 4);
        append();
        expect_call(0, 0);
        append();
        expect_call(0, 1);
        is_refused = false;
        WAIT_UNTIL(last_descriptor != taken);
        fence();
        append();
        expect_call(0, 2);
}

TEST_NO_BUS(watchesGoOnWhenTheHostHasClosedAllDescriptors)
{
        put("f", 0, "text");
        watch_as(0, "f", 0);
        fence_and_rest();
        is_refused = true;
        CHECK_EQ(syscall(SYS_close_range, 3U, ~0U, 0), 0);
        append();
        expect_call(0, 0);
        append();
        expect_call(0, 1);
}

static dn__file_watch *_Atomic to_free;

static void count_and_free(int token)
{
        dn__file_watch *watch;

        WAIT_UNTIL((watch = atomic_load(&to_free)) != NULL);
        CHECK(dn__file_watch_free(watch) == NULL);
        count(token);
}

TEST_NO_BUS(aWatchMayBeFreedInItsCall)
{
        dn__file_watch *watch;

        put("f", 0, "");
        CHECK_EQ(dn__file_watch_new(at("f"), 0, count_and_free, 0, &watch), 0);
        atomic_store(&to_free, watch);
        append();
        expect_call(0, 0);
        append();
        fence();
        CHECK_EQ(n_calls[0], 1);
}

TEST_NO_BUS(aFreedWatchIsNotCalled)
{
        dn__file_watch *watch;
        unsigned n_before;

        put("f", 0, "");
        watch = watch_as(0, "f", 0);
        append();
        CHECK(dn__file_watch_free(watch) == NULL);
        fence();
        n_before = n_calls[0];
        CHECK(n_before <= 1); /* it may have begun already */
        append();
        fence();
        CHECK_EQ(n_calls[0], n_before);
        CHECK(dn__file_watch_free(NULL) == NULL);
}

TEST_NO_BUS(freedWatchesLeaveNothingBehind)
{
        unsigned n_fds, n_threads;

        fence();
        WAIT_UNTIL_EQ(n_inotify_watches(), 0);
        n_fds = test_n_fds();
        n_threads = test_n_threads();
        make_directory("d");
        for (int i = 0; i < 50; i++) {
                dn__file_watch *a = watch_as(0, "d/f", 0), *b = watch_as(1, "d/g", 0);

                put("d/f", 0, "text");
                WAIT_UNTIL(n_inotify_watches() > 0);
                dn__file_watch_free(a);
                dn__file_watch_free(b);
                CHECK_EQ(unlink(at("d/f")), 0);
        }
        WAIT_UNTIL_EQ(n_inotify_watches(), 0);
        CHECK_EQ(test_n_fds(), n_fds);
        CHECK_EQ(test_n_threads(), n_threads);
}

static bool is_asleep(void)
{
        uint64_t n = test_n_switches_of_others();

        test_let_pass_ms(400);
        return test_n_switches_of_others() == n;
}

TEST_NO_BUS(idleWatchesDoNotWakeUp)
{
        dn__file_watch *watch = NULL;

        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer has a thread of its own that wakes up");
        /* Not in our directory, where other tests create and remove theirs. */
        CHECK_EQ(dn__file_watch_new("/usr/lib/os-release", 0, count, 0, &watch), 0);
        WAIT_UNTIL(is_asleep());
        dn__file_watch_free(watch);
}

TEST_NO_BUS(failureLeavesNothingBehind)
{
        struct rlimit none = { 0, 0 }, before;
        unsigned n_threads = test_n_threads(), n_fds = test_n_fds();
        dn__file_watch *watch = NULL;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        none.rlim_max = before.rlim_max;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        CHECK_EQ(dn__file_watch_new("/", 0, count, 0, &watch), -ENOMEM);
        CHECK(watch == NULL);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        CHECK_EQ(test_n_threads(), n_threads);
        CHECK_EQ(test_n_fds(), n_fds);
        fence();
}

static _Atomic bool is_over;

/* The argument is the file's path. */
static void *come_and_go(void *path)
{
        dn__file_watch *watches[4];

        for (int i = 0; i < 50; i++) {
                for (int k = 0; k < 4; k++)
                        CHECK_EQ(dn__file_watch_new(path, 0, count, 1, &watches[k]), 0);
                for (int k = 0; k < 4; k++)
                        dn__file_watch_free(watches[k]);
        }
        return NULL;
}

static void *keep_changing(void *path)
{
        while (!is_over) {
                CHECK_EQ(symlink("nothing", path), 0);
                CHECK_EQ(unlink(path), 0);
        }
        return NULL;
}

TEST_NO_BUS(watchesComeAndGoOnManyThreadsWhileTheFileChanges)
{
        pthread_t threads[4], changer;
        char path[512];

        CHECK(snprintf(path, sizeof(path), "%s", at("f")) < 512);
        changer = test_start_thread(keep_changing, path);
        for (int i = 0; i < 4; i++)
                threads[i] = test_start_thread(come_and_go, path);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
        is_over = true;
        CHECK_EQ(pthread_join(changer, NULL), 0);
        WAIT_UNTIL_EQ(n_inotify_watches(), 0);
}

/* The kernel gives a process its own limits in a user namespace where it is root. */
static void limit_watches(unsigned n)
{
        static int fd = -1;
        const char *text = FORMAT("%u\n", n);

        SKIP_IF(fd < 0 && unshare(CLONE_NEWUSER) < 0, "no user namespaces here");
        if (fd < 0)
                fd = open("/proc/sys/user/max_inotify_watches", O_WRONLY | O_CLOEXEC);
        if (fd < 0 || pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
                SKIP("the limit of watches cannot be set here");
}

TEST_NO_BUS(fileWithMoreDirectoriesThanTheLimitIsRefused)
{
        dn__file_watch *watch = NULL;

        limit_watches(2);
        CHECK_EQ(dn__file_watch_new(at("f"), 0, count, 0, &watch), -ENOSPC);
        CHECK(watch == NULL);
        WAIT_UNTIL_EQ(n_inotify_watches(), 0);
        limit_watches(100);
        fence();
}

TEST_NO_BUS(forkedChildHasItsOwnWatches)
{
        dn__file_watch *watch, *own;
        pid_t pid;

        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer allows no threads in a forked child");
        put("f", 0, "text");
        put("g", 0, "text");
        watch = watch_as(0, "f", 0);
        pid = test_fork();
        if (pid == 0) {
                CHECK_EQ(n_inotify_watches(), 0);
                CHECK(dn__file_watch_free(watch) == NULL);
                own = watch_as(1, "g", 0);
                put("g", O_APPEND, "text");
                expect_call(1, 0);
                append();
                fence();
                CHECK_EQ(n_calls[0], 0);
                dn__file_watch_free(own);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        expect_call(0, 0);
        CHECK_EQ(n_calls[1], 0);
        dn__file_watch_free(watch);
}

TEST_MAIN()
