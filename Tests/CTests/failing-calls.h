/* Replaces the system calls that the library and libsystemd make with ones that fail when the test
 * says so. Include it in only one file of a test program. */
#pragma once

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "test.h"

/* Returns the error with which this call fails, or 0. Defined by the test. */
static inline int error_of_call(const char *call);

static inline void require_failing_calls(void)
{
        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer makes calls before it is ready");
}

#if !TEST_HAS_THREAD_SANITIZER
/* libsystemd also uses them. */
#define REPLACES __attribute__((visibility("default")))

static void *find_replaced(const char *name)
{
        void *function = dlsym(RTLD_NEXT, name);

        if (!function)
                abort();
        return function;
}

/* Defines a function that fails or calls the one that it replaces. */
#define FAILING_AS(type, name, call, parameters, arguments, failure)                               \
        REPLACES type name parameters                                                              \
        {                                                                                          \
                static type(*replaced) parameters;                                                 \
                int saved = errno, error = error_of_call(call);                                    \
                if (error) {                                                                       \
                        errno = error;                                                             \
                        return failure;                                                            \
                }                                                                                  \
                if (!replaced)                                                                     \
                        *(void **)&replaced = find_replaced(#name);                                \
                errno = saved;                                                                     \
                return replaced arguments;                                                         \
        }

#define FAILING(type, name, parameters, arguments)                                                 \
        FAILING_AS(type, name, #name, parameters, arguments, -1)

FAILING(int, connect, (int fd, const struct sockaddr *address, socklen_t n), (fd, address, n))
FAILING(int, epoll_create1, (int flags), (flags))
FAILING(int, epoll_ctl, (int epoll, int op, int fd, struct epoll_event *event),
        (epoll, op, fd, event))
FAILING(int, eventfd, (unsigned count, int flags), (count, flags))
FAILING(int, eventfd_read, (int fd, eventfd_t *count), (fd, count))
FAILING(int, eventfd_write, (int fd, eventfd_t count), (fd, count))
FAILING(int, fallocate, (int fd, int mode, off_t offset, off_t n), (fd, mode, offset, n))
FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(int, fstat, (int fd, struct stat *status), (fd, status))
FAILING(int, ftruncate, (int fd, off_t n), (fd, n))
FAILING(ssize_t, getrandom, (void *bytes, size_t n, unsigned flags), (bytes, n, flags))
FAILING(int, getsockname, (int fd, struct sockaddr *address, socklen_t *n), (fd, address, n))
FAILING(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *n),
        (fd, level, name, value, n))
FAILING(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, path, mask))
FAILING(int, inotify_init1, (int flags), (flags))
FAILING(int, kill, (pid_t pid, int number), (pid, number))
FAILING(int, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
        (from_fd, from, to_fd, to, flags))
FAILING(int, lstat, (const char *path, struct stat *status), (path, status))
FAILING(int, madvise, (void *memory, size_t n, int advice), (memory, n, advice))
FAILING(int, memfd_create, (const char *name, unsigned flags), (name, flags))
FAILING(int, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, pipe2, (int fds[2], int flags), (fds, flags))
FAILING(int, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout))
FAILING(int, ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask),
        (fds, n, t, mask))
FAILING(ssize_t, pread, (int fd, void *bytes, size_t n, off_t offset), (fd, bytes, n, offset))
FAILING(ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t offset),
        (fd, bytes, n, offset))
FAILING(ssize_t, read, (int fd, void *bytes, size_t n), (fd, bytes, n))
FAILING(ssize_t, readlink, (const char *path, char *text, size_t n), (path, text, n))
FAILING(ssize_t, readlinkat, (int fd, const char *path, char *text, size_t n), (fd, path, text, n))
FAILING(ssize_t, readv, (int fd, const struct iovec *parts, int n), (fd, parts, n))
FAILING(ssize_t, recv, (int fd, void *bytes, size_t n, int flags), (fd, bytes, n, flags))
FAILING(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
FAILING(int, renameat, (int from_fd, const char *from, int to_fd, const char *to),
        (from_fd, from, to_fd, to))
FAILING(ssize_t, send, (int fd, const void *bytes, size_t n, int flags), (fd, bytes, n, flags))
FAILING(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
FAILING(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t n),
        (fd, level, name, value, n))
FAILING(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILING(int, socketpair, (int domain, int type, int protocol, int fds[2]),
        (domain, type, protocol, fds))
FAILING(int, stat, (const char *path, struct stat *status), (path, status))
FAILING(int, statx, (int fd, const char *path, int flags, unsigned mask, struct statx *status),
        (fd, path, flags, mask, status))
FAILING(int, timerfd_create, (clockid_t clock, int flags), (clock, flags))
FAILING(int, timerfd_settime,
        (int fd, int flags, const struct itimerspec *time, struct itimerspec *before),
        (fd, flags, time, before))
FAILING(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
FAILING(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n))
FAILING(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
FAILING_AS(DIR *, fdopendir, "fdopendir", (int fd), (fd), NULL)
FAILING_AS(DIR *, opendir, "opendir", (const char *path), (path), NULL)
FAILING_AS(FILE *, fopen64, "fopen", (const char *path, const char *mode), (path, mode), NULL)
FAILING_AS(int, fstat64, "fstat", (int fd, struct stat64 *status), (fd, status), -1)
FAILING_AS(struct dirent *, readdir, "readdir", (DIR * stream), (stream), NULL)
FAILING_AS(void *, mmap, "mmap",
           (void *at, size_t n, int protection, int flags, int fd, off_t offset),
           (at, n, protection, flags, fd, offset), MAP_FAILED)
FAILING_AS(int, pthread_create, "pthread_create",
           (pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
           (id, attributes, run, context), error)

/* The kernel closes the descriptor whatever it returns. */
REPLACES int close(int fd)
{
        static int (*replaced)(int);
        int saved = errno, error = error_of_call("close"), r;

        if (!replaced)
                *(void **)&replaced = find_replaced("close");
        errno = saved;
        r = replaced(fd);
        if (error)
                errno = error;
        return error ? -1 : r;
}

/* Defines a function with one optional argument, `more`. */
#define FAILING_MORE(name, call, parameters, last, arguments)                                      \
        REPLACES int name parameters                                                               \
        {                                                                                          \
                static int(*replaced) parameters;                                                  \
                int saved = errno, error = error_of_call(call);                                    \
                va_list rest;                                                                      \
                void *more;                                                                        \
                va_start(rest, last);                                                              \
                more = va_arg(rest, void *);                                                       \
                va_end(rest);                                                                      \
                errno = error ? error : saved;                                                     \
                if (!error && !replaced)                                                           \
                        *(void **)&replaced = find_replaced(#name);                                \
                return error ? -1 : replaced arguments;                                            \
        }

FAILING_MORE(fcntl, "fcntl", (int fd, int command, ...), command, (fd, command, more))
FAILING_MORE(fcntl64, "fcntl", (int fd, int command, ...), command, (fd, command, more))
FAILING_MORE(ioctl, "ioctl", (int fd, unsigned long request, ...), request, (fd, request, more))
FAILING_MORE(open, "open", (const char *path, int flags, ...), flags, (path, flags, more))
FAILING_MORE(open64, "open", (const char *path, int flags, ...), flags, (path, flags, more))
FAILING_MORE(openat, "openat", (int at, const char *path, int flags, ...), flags,
             (at, path, flags, more))
FAILING_MORE(openat64, "openat", (int at, const char *path, int flags, ...), flags,
             (at, path, flags, more))

static const char *name_of_call(long number, long operation)
{
        if (number != SYS_futex)
                return "syscall";
        switch (operation & FUTEX_CMD_MASK) {
        case FUTEX_WAKE:
        case FUTEX_WAKE_BITSET: return "futex(FUTEX_WAKE)";
        default: return "futex";
        }
}

REPLACES long syscall(long number, ...)
{
        static long (*replaced)(long, ...);
        int saved = errno, error;
        long arguments[6];
        va_list rest;

        va_start(rest, number);
        for (int i = 0; i < 6; i++)
                arguments[i] = va_arg(rest, long);
        va_end(rest);
        if (!replaced)
                *(void **)&replaced = find_replaced("syscall");
        error = error_of_call(name_of_call(number, arguments[1]));
        errno = error ? error : saved;
        return error ? -1
                     : replaced(number, arguments[0], arguments[1], arguments[2], arguments[3],
                                arguments[4], arguments[5]);
}
#endif
