/* The library's threads. */
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

static void count(void *context)
{
        (*(_Atomic unsigned *)context)++;
}

TEST_NO_BUS(endedThreadsKeepNoMemory)
{
        enum { N_THREADS = 100, N_STACKS = 20, STACK_BYTES = 8 << 20 };
        unsigned n_threads = test_n_threads();
        _Atomic unsigned n_run = 0;
        struct rlimit room;

        if (TEST_HAS_SANITIZER)
                SKIP("a sanitizer needs more room for addresses");
        CHECK_EQ(getrlimit(RLIMIT_AS, &room), 0);
        room.rlim_cur = (rlim_t)N_STACKS * STACK_BYTES;
        CHECK_EQ(setrlimit(RLIMIT_AS, &room), 0);
        for (unsigned i = 1; i <= N_THREADS; i++) {
                CHECK_EQ(dn__thread_start("dn-under-test", count, &n_run), 0);
                WAIT_UNTIL_EQ(n_run, i);
                WAIT_UNTIL_EQ(test_n_threads(), n_threads);
        }
        dn__thread_join_all();
}

TEST_MAIN()
