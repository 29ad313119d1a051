/* Watched files, and the changes reported for them. */
#pragma once

#include <fcntl.h>
#include <notify_private.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notify/file-watch.h"
#include "test.h"

/* Tokens are used as indices. */
#define N_TOKENS 64
#define FENCE (N_TOKENS - 1)
static _Atomic unsigned n_calls[N_TOKENS];

static inline void count(int token)
{
        n_calls[token]++;
}

/* Returns a path in the test's directory, valid for a while. */
static inline const char *at(const char *name)
{
        static _Thread_local char paths[8][512];
        static _Thread_local unsigned next;
        char *path = paths[next++ % 8];

        CHECK(snprintf(path, 512, "%s/%s", test_directory(), name) < 512);
        return path;
}

static inline void put(const char *name, int flags, const char *text)
{
        int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
        CHECK_EQ(close(fd), 0);
}

static inline void make_directory(const char *name)
{
        CHECK_EQ(mkdir(at(name), 0755), 0);
}

static inline dn__file_watch *watch_as(int token, const char *name, unsigned flags)
{
        dn__file_watch *watch = NULL;

        CHECK_EQ(dn__file_watch_new(at(name), flags, count, token, &watch), 0);
        CHECK(watch != NULL);
        return watch;
}

/* Waits until the token has been called again. */
static inline void expect_call(int token, unsigned n_before)
{
        WAIT_UNTIL(n_calls[token] > n_before);
}

/* Returns when all earlier file changes have been processed: files are looked at in the order of
 * their changes. */
static inline void fence(void)
{
        dn__file_watch *watch;
        unsigned n = n_calls[FENCE];

        put("fence", 0, "");
        watch = watch_as(FENCE, "fence", NOTIFY_MONITOR_EXTEND);
        put("fence", O_APPEND, "more");
        expect_call(FENCE, n);
        dn__file_watch_free(watch);
}

/* Counts this process's inotify watches, as reported by the kernel. */
static inline unsigned n_inotify_watches(void)
{
        unsigned n = 0;
        char line[256];

        for (int fd = 0; fd < 64; fd++) {
                FILE *f = fopen(FORMAT("/proc/self/fdinfo/%d", fd), "re");

                while (f && fgets(line, sizeof(line), f))
                        n += strncmp(line, "inotify wd:", 11) == 0;
                if (f)
                        fclose(f);
        }
        return n;
}
