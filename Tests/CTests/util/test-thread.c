/* The library's threads. */
#include "util/thread.h"

#include <signal.h>
#include <stdatomic.h>

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
        atomic_store((_Atomic int *)context, 1);
}

TEST_NO_BUS(aThreadLeavesSignalsToTheHost)
{
        _Atomic int has_looked = 0;
        sigset_t before, after;
        pthread_t thread;

        CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
        CHECK_EQ(dn__thread_start("dn-under-test", look, &has_looked, &thread), 0);
        CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(atomic_load(&has_looked), 1);
        for (int signal = 1; signal < NSIG; signal++)
                CHECK_EQ(sigismember(&after, signal), sigismember(&before, signal));
}

TEST_MAIN()
