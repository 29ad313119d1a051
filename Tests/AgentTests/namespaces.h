/* What a test may change of its system, in namespaces of its own. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static inline void write_file(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
}

/* The programs that it starts keep the rights that an ordinary user has there. */
static inline void keep_capabilities(void)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

        CHECK_EQ(syscall(SYS_capget, &header, data), 0);
        for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
                data[i].inheritable = data[i].permitted;
        CHECK_EQ(syscall(SYS_capset, &header, data), 0);
        for (unsigned long i = 0; i <= CAP_LAST_CAP; i++)
                (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
}

/* Before any other thread or process. `flags` as for unshare(); mounts are always its own. */
static inline void enter_namespaces(int flags)
{
        unsigned user = geteuid(), group = getegid();

        flags |= CLONE_NEWNS;
        if (user != 0) {
                SKIP_IF(unshare(flags | CLONE_NEWUSER) < 0,
                        "this user may not make a user namespace");
                write_file("/proc/self/setgroups", "deny");
                write_file("/proc/self/uid_map", FORMAT("%u %u 1", user, user));
                write_file("/proc/self/gid_map", FORMAT("%u %u 1", group, group));
                keep_capabilities();
        } else {
                SKIP_IF(unshare(flags) < 0, "root may not make namespaces here");
        }
        CHECK_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

static inline void cover(const char *path)
{
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
        CHECK_EQ(mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"), 0);
}

/* What a bus reads to know its users remains. */
static inline void cover_etc(void)
{
        static const char *const files[] = {"passwd", "group", "nsswitch.conf"};
        char texts[3][65536] = {{0}};

        for (size_t i = 0; i < 3; i++) {
                int fd = open(FORMAT("/etc/%s", files[i]), O_RDONLY | O_CLOEXEC);

                CHECK(fd < 0 || read(fd, texts[i], sizeof texts[i] - 1) >= 0);
                close(fd);
        }
        cover("/etc");
        for (size_t i = 0; i < 3; i++)
                write_file(FORMAT("/etc/%s", files[i]), texts[i]);
}
