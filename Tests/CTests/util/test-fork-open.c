/* The descriptors of a child made while other threads of its parent open some. */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <notify_private.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "util/fork.h"

#define N_FORKS 300
#define N_PROGRAMS 60
#define N_THREADS 2
#define MAX_FDS 1024
#define MANY_FDS 256

static test_bus *bus;
static _Atomic bool stop;
static bool is_known[MAX_FDS]; /* descriptors not of the library */

/* Prints and counts the others. */
static int count_ours(void)
{
        DIR *directory = opendir("/proc/self/fd");
        struct dirent *entry;
        char target[256];
        int n = 0;

        CHECK(directory);
        while ((entry = readdir(directory))) {
                int fd = atoi(entry->d_name);
                ssize_t n_bytes = readlinkat(dirfd(directory), entry->d_name, target,
                                             sizeof target - 1);

                if (n_bytes < 0 || fd == dirfd(directory) || is_known[fd])
                        continue;
                fprintf(stderr, "%d is %.*s\n", fd, (int)n_bytes, target);
                n++;
        }
        closedir(directory);
        return n;
}

static void note_known(void)
{
        for (int fd = 0; fd < MAX_FDS; fd++)
                is_known[fd] = fcntl(fd, F_GETFD) >= 0;
}

static int count_open(void)
{
        int n = 0;

        for (int fd = 0; fd < MAX_FDS; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

/* Centers are closed in the background, on a busy machine more slowly than others are opened. */
static void *open_all_the_time(void *argument)
{
        (void)argument;
        while (!stop) {
                dn_center *center = NULL;
                tally seen = {0};

                CHECK_EQ(dn_center_open(test_bus_address(bus), &center), 0);
                tally_drop(tally_observe_soon(center, "N", &seen));
                WAIT_UNTIL_EQ(seen.n_destroyed, 1);
                dn_center_unref(center);
                WAIT_UNTIL(count_open() < MANY_FDS);
        }
        return NULL;
}

static void with_threads(void (*check)(void), int n_times)
{
        pthread_t threads[N_THREADS];

        if (TEST_HAS_SANITIZER)
                SKIP("the allocator of a sanitizer may be locked in the forked child");
        /* Otherwise the allocator itself opens a file once, to count the processors. */
        CHECK_EQ(mallopt(M_ARENA_MAX, N_THREADS), 1);
        bus = test_bus_begin();
        note_known();
        for (int i = 0; i < N_THREADS; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, open_all_the_time, NULL), 0);
        for (int i = 0; i < n_times; i++)
                check();
        stop = true;
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        test_bus_stop(bus);
}

static void check_fork(void)
{
        uint64_t before_us = test_now_us();
        pid_t pid = fork(); /* the other threads are never idle */

        if (pid == 0)
                _exit(count_ours());
        bool has_waited = test_now_us() - before_us < 1900000; /* a fork goes on after 2 s */
        int n_crossed = test_wait_for(pid);
        if (has_waited)
                CHECK_EQ(n_crossed, 0);
}

TEST(noDescriptorCrossesAForkWhileThreadsOpenCenters)
{
        with_threads(check_fork, N_FORKS);
}

/* --- Programs -------------------------------------------------------------------------------- */

/* Argument: which descriptors are known, a digit for each. The others are counted. */
ROLE(count)
{
        for (int fd = 0; args[0][fd]; fd++)
                is_known[fd] = args[0][fd] == '1';
        return count_ours();
}

static char *program[] = {"/proc/self/exe", "--role", "count", NULL, NULL};

static void with_programs(void (*check)(void))
{
        static char known[MAX_FDS + 1];

        for (int fd = 0; fd < MAX_FDS; fd++)
                known[fd] = fcntl(fd, F_GETFD) >= 0 ? '1' : '0';
        program[3] = known;
        with_threads(check, N_PROGRAMS);
}

/* None of these runs a fork handler. */
static void check_spawn(void)
{
        pid_t pid;

        CHECK_EQ(posix_spawn(&pid, program[0], NULL, NULL, program, environ), 0);
        CHECK_EQ(test_wait_for(pid), 0);
}

TEST(noDescriptorCrossesASpawnWhileThreadsOpenCenters)
{
        with_programs(check_spawn);
}

static void check_vfork(void)
{
        pid_t pid = vfork();

        if (pid == 0) {
                _notify_fork_child(); /* does nothing: the memory is the parent's */
                execv(program[0], program);
                _exit(127);
        }
        CHECK_EQ(test_wait_for(pid), 0);
}

TEST(noDescriptorCrossesAVforkAndExecWhileThreadsOpenCenters)
{
        with_programs(check_vfork);
}

static void check_bare_fork(void)
{
        pid_t pid = _Fork();

        if (pid == 0) {
                execv(program[0], program);
                _exit(127);
        }
        CHECK_EQ(test_wait_for(pid), 0);
}

TEST(noDescriptorCrossesABareForkAndExecWhileThreadsOpenCenters)
{
        with_programs(check_bare_fork);
}

/* --- Waiting for one another ----------------------------------------------------------------- */

static _Atomic bool is_open, is_forked;
static _Atomic int opened = -1;

/* Opens as slowly as on a machine where the thread gets no processor for a while. */
static void *open_slowly(void *argument)
{
        const struct timespec while_others_run = {.tv_nsec = 400000000};
        dn__fork_guard *guard;

        (void)argument;
        dn__fork_hold_off();
        opened = eventfd(0, EFD_CLOEXEC);
        is_open = true;
        nanosleep(&while_others_run, NULL);
        guard = dn__fork_guard_new(opened);
        dn__fork_let_go();
        WAIT_UNTIL(is_forked);
        dn__fork_guard_close(guard, opened);
        return NULL;
}

TEST_NO_BUS(forkWaitsForAThreadThatOpensSlowly)
{
        pthread_t thread;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(pthread_create(&thread, NULL, open_slowly, NULL), 0);
        WAIT_UNTIL(is_open);
        uint64_t before_us = test_now_us();
        pid_t pid = test_fork();
        if (pid == 0)
                _exit(fcntl(opened, F_GETFD) >= 0);
        is_forked = true;
        if (test_now_us() - before_us >= 2000000)
                SKIP("the machine stood still"); /* a fork does not wait for ever */
        CHECK_EQ(test_wait_for(pid), 0);
        pthread_join(thread, NULL);
        dn__fork_guards_free();
}

static void *open_until_forked(void *argument)
{
        (void)argument;
        dn__fork_hold_off();
        is_open = true;
        WAIT_UNTIL(is_forked);
        dn__fork_let_go();
        return NULL;
}

/* A child that waited each time would take minutes. */
TEST_NO_BUS(childWithoutForkHandlersDoesNotWaitForItsParentsThreads)
{
        pthread_t thread;

        if (TEST_HAS_SANITIZER)
                SKIP("the allocator of a sanitizer may be locked in the forked child");
        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(pthread_create(&thread, NULL, open_until_forked, NULL), 0);
        WAIT_UNTIL(is_open);
        pid_t pid = _Fork();
        if (pid == 0) {
                for (int i = 0; i < N_FORKS; i++) {
                        pid_t grandchild = fork();

                        if (grandchild == 0)
                                _exit(0);
                        CHECK_EQ(test_wait_for(grandchild), 0);
                }
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        is_forked = true;
        pthread_join(thread, NULL);
}

TEST_MAIN()
