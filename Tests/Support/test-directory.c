/* Private directories that are removed with the test. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test-private.h"

static char own_directory[PATH_MAX];
static pid_t own_pid; /* a forked child leaves the directory to its parent */

/* Threads of the library may still look for a table. Without this directory they would make the
 * next one in a directory that all tests share, where those without a bus would meet. */
static void forbid_tables_elsewhere(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
                return;
        limit.rlim_cur = 16 << 20; /* less than a table, more than a log */
        (void)setrlimit(RLIMIT_FSIZE, &limit);
}

void test_directory_forget(void)
{
        if (!own_directory[0] || own_pid != getpid())
                return;
        forbid_tables_elsewhere();
        test_remove_tree(own_directory);
}

static void directory_make(void)
{
        const char *base = getenv("DN_TEST_DIRECTORY"); /* set by run-tests, which cleans it up */

        snprintf(own_directory, sizeof own_directory, "%s/dn-test-XXXXXX", base ? base : "/tmp");
        if (!mkdtemp(own_directory))
                test_broken("mkdtemp: %s", strerror(errno));
        own_pid = getpid();
        atexit(test_directory_forget);
}

const char *test_directory(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, directory_make);
        return own_directory;
}

void test_directory_new(char *ret_path, unsigned long path_bytes)
{
        int n = snprintf(ret_path, path_bytes, "%s/bus-XXXXXX", test_directory());

        if (n < 0 || (unsigned long)n >= path_bytes || !mkdtemp(ret_path))
                test_broken("mkdtemp %s: %s", ret_path, strerror(errno));
}

void test_mounts_unshare(void)
{
        if (!test_mounts_try_unshare())
                test_skip("this user can neither mount nor make a user namespace");
}

void test_directory_cover(const char *path, const char *options)
{
        test_mounts_unshare();
        if ((mkdir(path, 0755) < 0 && errno != EEXIST) ||
            mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
                test_skip(FORMAT("cannot mount on %s: %s", path, strerror(errno)));
        test_mounts_done();
}
