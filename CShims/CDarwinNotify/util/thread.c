/* Creates the library's threads: named, with every signal left to the host's threads. */
#include "util/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

typedef struct start {
        const char *name;
        void (*run)(void *context);
        void *context;
} start;

static void *thread_main(void *argument)
{
        start start = *(struct start *)argument;

        free(argument);
        /* Only a callback could cancel it, leaving the library's locks held. */
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        (void)pthread_setname_np(pthread_self(), start.name);
        start.run(start.context);
        return NULL;
}

int dn__thread_start(const char *name, void (*run)(void *context), void *context,
                     pthread_t *ret_thread)
{
        struct start *argument = malloc(sizeof(*argument));
        static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
        sigset_t all, before;
        int r;

        if (!argument)
                return -ENOMEM;
        *argument = (start){ name, run, context };

        /* A thread inherits its creator's mask: block signals first, so the host's signals can
         * never be delivered here. */
        (void)sigfillset(&all);
        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
                (void)sigdelset(&all, faults[i]);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(ret_thread, NULL, thread_main, argument);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r == 0)
                return 0;
        free(argument);
        return -ENOMEM;
}
