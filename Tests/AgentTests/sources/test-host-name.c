/* The name of the host. */
#include "namespaces.h"
#include "stage.h"

TEST(anotherNameIsHeard)
{
        enter_namespaces(CLONE_NEWUTS);
        stage stage = stage_begin();
        agent_start(&stage);
        int name = stage_hear(&stage, "com.apple.system.hostname");

        CHECK_EQ(sethostname("elsewhere", 9), 0);
        stage_expect(&stage, name);
        CHECK_EQ(sethostname("elsewhere", 9), 0);
        stage_expect_nothing(&stage);
        CHECK_EQ(sethostname("here", 4), 0);
        stage_expect(&stage, name);
}

TEST_MAIN()
