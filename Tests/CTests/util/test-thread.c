/* The library's threads. */
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

static void look(void *context)
{
        int state;
        char name[16];
        sigset_t mask;

        CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
        CHECK(sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1) &&
              sigismember(&mask, SIGPIPE) && sigismember(&mask, SIGRTMIN));
        CHECK(!sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGBUS));
        CHECK_EQ(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
        CHECK_STREQ(name, "dn-under-test");
        CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
        CHECK_EQ(state, PTHREAD_CANCEL_DISABLE);
        CHECK(dn__thread_is_ours());
        atomic_store((_Atomic int *)context, 1);
}

TEST_NO_BUS(aThreadLeavesSignalsToTheHost)
{
        _Atomic int has_looked = 0;
        sigset_t before, after;

        CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
        CHECK_EQ(dn__thread_start("dn-under-test", look, &has_looked), 0);
        CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
        dn__thread_join_all();
        CHECK_EQ(atomic_load(&has_looked), 1);
        for (int signal = 1; signal < NSIG; signal++)
                CHECK_EQ(sigismember(&after, signal), sigismember(&before, signal));
}

static void count(void *context)
{
        (*(_Atomic unsigned *)context)++;
}

TEST_NO_BUS(allThreadsAreJoinedHoweverManyThereWere)
{
        enum { N_ROUNDS = 5, N_THREADS = 20 };
        _Atomic unsigned n_run = 0;

        CHECK(!dn__thread_is_ours());
        dn__thread_join_all();
        for (unsigned round = 1; round <= N_ROUNDS; round++) {
                for (int i = 0; i < N_THREADS; i++)
                        CHECK_EQ(dn__thread_start("dn-under-test", count, &n_run), 0);
                dn__thread_join_all();
                CHECK_EQ(n_run, round * N_THREADS);
        }
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

TEST_NO_BUS(aThreadThatCannotBeMadeHasItsErrorNumber)
{
        struct rlimit none = { 0, 0 };

        if (TEST_HAS_SANITIZER)
                SKIP("a leak checker needs a process of its own");
        if (geteuid() == 0)
                CHECK_EQ(setreuid(65534, 65534), 0); /* root has no limit */
        CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
        CHECK_EQ(dn__thread_start("dn-under-test", look, NULL), -EAGAIN);
        dn__thread_join_all();
}

TEST_MAIN()
