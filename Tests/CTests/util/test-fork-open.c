/* The descriptors of a child forked while other threads of its parent open some. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define N_FORKS 300
#define N_THREADS 2

static test_bus *bus;
static _Atomic bool stop;
static bool is_known[1024]; /* descriptors not of the library */

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
        for (int fd = 0; fd < 1024; fd++)
                is_known[fd] = fcntl(fd, F_GETFD) >= 0;
}

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
        }
        return NULL;
}

static void with_threads(void (*check)(void), int n_times)
{
        pthread_t threads[N_THREADS];
        dn_center *center = NULL;
        tally seen = {0};

        if (TEST_HAS_SANITIZER)
                SKIP("the allocator of a sanitizer may be locked in the forked child");
        bus = test_bus_begin();
        /* The table stays: to make and remove its file takes longer than a fork waits for. */
        CHECK_EQ(dn_center_open(test_bus_address(bus), &center), 0);
        dn_observer *observer = tally_observe_soon(center, "N", &seen);
        note_known();
        for (int i = 0; i < N_THREADS; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, open_all_the_time, NULL), 0);
        for (int i = 0; i < n_times; i++)
                check();
        stop = true;
        for (int i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        tally_drop(observer);
        dn_center_unref(center);
        test_bus_stop(bus);
}

static void check_fork(void)
{
        pid_t pid = fork(); /* the other threads are never idle */

        if (pid == 0)
                _exit(count_ours());
        CHECK_EQ(test_wait_for(pid), 0);
}

TEST(noDescriptorCrossesAForkWhileThreadsOpenCenters)
{
        with_threads(check_fork, N_FORKS);
}

/* A C library may spawn with vfork(), which runs no fork handlers. */
static void check_spawn(void)
{
        char *argv[] = {"sh", "-c", "! ls -l /proc/self/fd | grep -e darwin-notify -e eventfd",
                        NULL};
        pid_t pid;

        CHECK_EQ(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ), 0);
        CHECK_EQ(test_wait_for(pid), 0);
}

TEST(noDescriptorCrossesASpawnWhileThreadsOpenCenters)
{
        with_threads(check_spawn, 40);
}


TEST_MAIN()
