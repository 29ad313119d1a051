/* Keeps tests away from the directories that the user's programs share. */
#include <sched.h>
#include <sys/mount.h>

#include "test.h"

bool test_mounts_try_unshare(void)
{
        return unshare(CLONE_NEWNS) == 0 &&
               mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void test_directory_leave_shared(void)
{
        static const char *const shared[][2] = {{"/run/user", "mode=0755"},
                                                {"/dev/shm", "mode=1777"}};

        if (!test_mounts_try_unshare())
                return;
        for (size_t i = 0; i < 2; i++)
                (void)mount("tmpfs", shared[i][0], "tmpfs", MS_NOSUID | MS_NODEV, shared[i][1]);
}
