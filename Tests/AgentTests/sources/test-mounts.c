/* File systems that come, go and change. */
#include "namespaces.h"
#include "stage.h"

TEST(eachChangeHasItsName)
{
        enter_namespaces(0);
        const char *path = FORMAT("%s/place", test_directory());
        CHECK_EQ(mkdir(path, 0755), 0);
        stage stage = stage_begin();
        agent_start(&stage);
        int mounted = stage_hear(&stage, "com.apple.system.kernel.mount");
        int unmounted = stage_hear(&stage, "com.apple.system.kernel.unmount");
        int updated = stage_hear(&stage, "com.apple.system.kernel.mountupdate");

        CHECK_EQ(mount("tmpfs", path, "tmpfs", 0, NULL), 0);
        stage_expect(&stage, mounted);
        CHECK_EQ(mount("tmpfs", path, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
        stage_expect(&stage, updated);
        CHECK_EQ(umount2(path, MNT_DETACH), 0);
        stage_expect(&stage, unmounted);
        stage_expect_nothing(&stage);
}

TEST_MAIN()
