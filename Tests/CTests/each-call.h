/* Repeats a use of the library, with each of its system calls failing in turn, in every way that it
 * can. Include it in only one file of a test program. */
#pragma once

#include <darwinnotify/darwinnotify.h>

#include "failing-calls.h"
#include "footing.h"
#include "library-thread.h"
#include "test.h"

/* --- which call fails ------------------------------------------------------------------------- */

#define MAX_ERRORS 6

/* EINVAL, ENOSYS and EPERM are what kernels without a feature and sandboxes return: test-refused.c
 * refuses futexes. A futex call that wakes cannot fail otherwise. send() fails with EAGAIN only if
 * the receiver has something to read. */
static const struct row {
        const char *call;
        int errors[MAX_ERRORS];
} rows[] = {
        {"close", {EINTR, EIO}},
        {"connect", {EAGAIN, EINTR, EPERM, ENOMEM, ENOSYS}},
        {"epoll_create1", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"epoll_ctl", {ENOMEM, ENOSPC, EPERM}},
        {"eventfd", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"eventfd_read", {EINTR, EAGAIN, ENOMEM}},
        {"eventfd_write", {EINTR, EAGAIN, ENOMEM}},
        {"fallocate", {ENOSPC, EINTR, EPERM, ENOSYS, EINVAL}},
        {"fchmod", {EPERM, ENOSYS}},
        {"fcntl", {EAGAIN, EINTR, ENOMEM, EPERM, EINVAL, ENOSYS}},
        {"fdopendir", {ENOMEM, EMFILE}},
        {"fopen", {EMFILE, ENOMEM, EPERM}},
        {"fstat", {ENOMEM, EPERM, ENOSYS}},
        {"ftruncate", {ENOSPC, EINTR, EPERM, EINVAL}},
        {"futex", {EINTR, EAGAIN, ENOMEM}},
        {"getrandom", {EINTR, EAGAIN, EPERM, ENOSYS}},
        {"getsockname", {ENOMEM, EPERM}},
        {"getsockopt", {ENOMEM, EPERM, EINVAL, ENOSYS}},
        {"inotify_add_watch", {ENOSPC, ENOMEM, EPERM}},
        {"inotify_init1", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"ioctl", {EPERM, ENOSYS, EINVAL}},
        {"kill", {EPERM, EAGAIN}},
        {"linkat", {ENOSPC, ENOMEM, EPERM, ENOSYS}},
        {"lstat", {ENOMEM, EPERM, ENOSYS}},
        {"madvise", {EAGAIN, ENOMEM, EPERM, EINVAL}},
        {"memfd_create", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"mkdir", {ENOSPC, ENOMEM, EPERM}},
        {"mmap", {ENOMEM, EAGAIN, EPERM, EINVAL}},
        {"open", {EMFILE, ENOMEM, EINTR, EPERM, ENOSPC, ENOSYS}},
        {"openat", {EMFILE, ENOMEM, EINTR, EPERM, ENOSPC, ENOSYS}},
        {"opendir", {EMFILE, ENOMEM, EPERM}},
        {"pipe2", {EMFILE, EPERM, ENOSYS}},
        {"poll", {EINTR, ENOMEM, EAGAIN}},
        {"ppoll", {EINTR, ENOMEM, EPERM, ENOSYS}},
        {"pread", {EINTR, ENOMEM}},
        {"pthread_create", {EAGAIN, EPERM}},
        {"pwrite", {ENOSPC, EINTR}},
        {"read", {EINTR, EAGAIN, ENOMEM}},
        {"readdir", {ENOMEM}},
        {"readlink", {ENOMEM, EPERM}},
        {"readlinkat", {ENOMEM, EPERM}},
        {"readv", {EINTR, EAGAIN, ENOMEM}},
        {"recv", {EINTR, EAGAIN, ENOMEM}},
        {"recvmsg", {EINTR, EAGAIN, ENOMEM, EPERM}},
        {"renameat", {ENOSPC, ENOMEM, EPERM}},
        {"send", {EINTR, ENOMEM, EPERM}},
        {"sendmsg", {EINTR, EAGAIN, ENOMEM, EPERM}},
        {"setsockopt", {ENOMEM, EPERM, EINVAL}},
        {"socket", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"socketpair", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"stat", {ENOMEM, EPERM, ENOSYS}},
        {"statx", {ENOMEM, EPERM, ENOSYS, EINVAL}},
        {"syscall", {ENOMEM, EPERM, ENOSYS}},
        {"timerfd_create", {EMFILE, ENOMEM, EPERM, ENOSYS}},
        {"timerfd_settime", {EPERM, EINVAL}},
        {"unlinkat", {EPERM, ENOMEM, ENOSYS}},
        {"write", {EINTR, EAGAIN, ENOSPC}},
        {"writev", {EINTR, EAGAIN, ENOMEM}},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const char *to_fail;           /* in this use */
static _Atomic(const char *) failing; /* at present; NULL: none */
static _Atomic int error_of_failing;
static _Atomic long n_until_failure;
static _Atomic bool has_failed;

static _Thread_local bool is_inside; /* the thread of the test calls the library */

static int error_of_call(const char *call)
{
        const char *now = failing;

        if (!now || strcmp(now, call) != 0 || (!is_inside && !is_thread_of_library()) ||
            n_until_failure-- != 0)
                return 0;
        has_failed = true;
        return error_of_failing;
}

/* Until fail_no_more(), which each use calls in the end. */
static void fail_from_here(void)
{
        failing = to_fail;
}

static void fail_no_more(void)
{
        failing = NULL;
}

/* Returns whether the call failed during this use. */
static bool use_with(void (*use)(void), const char *call, int error, long n)
{
        printf(" %ld", n);
        fflush(stdout);
        has_failed = false;
        error_of_failing = error;
        n_until_failure = n;
        to_fail = call;
        use();
        return has_failed;
}

/* Repeats the use, with the first, second, ... call failing, until it completes without a failure.
 * What is printed is seen if one fails. */
static void fail_each(void (*use)(void))
{
        require_failing_calls();
        use();
        for (int i = 0; i < N_ROWS; i++)
                for (int j = 0; j < MAX_ERRORS && rows[i].errors[j]; j++) {
                        uint64_t began_us = test_now_us();
                        long n = 0;

                        printf("%s, %s:", rows[i].call, strerrorname_np(rows[i].errors[j]));
                        while (use_with(use, rows[i].call, rows[i].errors[j], n))
                                n++;
                        printf(" (%ld ms)\n", (long)(test_now_us() - began_us) / 1000);
                        if (n == 0)
                                break; /* it is not used here */
                }
}

/* --- results ---------------------------------------------------------------------------------- */

/* What every function may return that lists -ENOMEM. */
static bool is_lack(int r)
{
        return r == -ENOMEM || r == -EAGAIN || r == -EMFILE || r == -ENFILE;
}

static int check_listed(const char *call, int r, const int *listed)
{
        is_inside = false;
        if (r == 0 || is_lack(r))
                return r;
        for (; *listed; listed++)
                if (r == *listed)
                        return r;
        test_fail(__FILE__, __LINE__, "%s returned %d", call, r);
}

/* Makes a call, some of whose system calls may fail. The other arguments are what it may return
 * besides 0 and a lack. */
#define TRY(call, ...) check_listed(#call, (is_inside = true, (call)), (int[]){__VA_ARGS__, 0})

/* It waits a second for callbacks, which a busy machine may take away. */
static void shut_down(footing before)
{
        WAIT_UNTIL_EQ(TRY(dn_shutdown(), -EBUSY), 0);
        fail_no_more();
        check_nothing_is_left(before);
}
