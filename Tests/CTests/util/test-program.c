/* The program that a process runs. */
#include "util/program.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "util/fork.h"

TEST_NO_BUS(findsTheNameOfALivingProcessOnly)
{
        char *own, *gone;
        pid_t pid;

        CHECK_EQ(dn__fork_init(), 0);
        own = dn__program_find(getpid());
        CHECK(own);
        CHECK_STREQ(own, "test-program");
        free(own);

        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
                _exit(0);
        CHECK_EQ(waitpid(pid, NULL, 0), pid);
        gone = dn__program_find(pid);
        CHECK(!gone);
        CHECK(!dn__program_find(-1));
}

TEST_MAIN()
