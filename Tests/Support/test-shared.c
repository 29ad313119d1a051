/* Keeps tests away from the directories that the user's programs share. */
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static bool write_text(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        ssize_t n_bytes = (ssize_t)strlen(text);
        bool is_written = fd >= 0 && write(fd, text, (size_t)n_bytes) == n_bytes;

        if (fd >= 0)
                close(fd);
        return is_written;
}

/* Lets an ordinary user mount, in a namespace where it remains the same user. */
static bool try_unshare_users(void)
{
        unsigned user = geteuid(), group = getegid();
        char users[64], groups[64];

        snprintf(users, sizeof users, "%u %u 1", user, user);
        snprintf(groups, sizeof groups, "%u %u 1", group, group);
        return user != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
               write_text("/proc/self/setgroups", "deny") &&
               write_text("/proc/self/uid_map", users) &&
               write_text("/proc/self/gid_map", groups);
}

bool test_mounts_try_unshare(void)
{
        return (unshare(CLONE_NEWNS) == 0 || try_unshare_users()) &&
               mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void test_mounts_done(void)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

        if (geteuid() != 0)
                (void)syscall(SYS_capset, &header, none);
}

void test_directory_leave_shared(void)
{
        static const char *const shared[][2] = {{"/run/user", "mode=0755"},
                                                {"/dev/shm", "mode=1777"}};

        if (!test_mounts_try_unshare())
                return;
        for (size_t i = 0; i < 2; i++)
                (void)mount("tmpfs", shared[i][0], "tmpfs", MS_NOSUID | MS_NODEV, shared[i][1]);
        test_mounts_done();
}
