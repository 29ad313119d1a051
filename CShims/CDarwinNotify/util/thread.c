/* Threads of the library: named, detached, with every signal left to the host's threads. */
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
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
        (void)pthread_setname_np(pthread_self(), start.name);
        start.run(start.context);
        return NULL;
}

int dn__thread_start(const char *name, void (*run)(void *context), void *context)
{
        struct start *argument = malloc(sizeof(*argument));
        pthread_attr_t attributes;
        static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
        sigset_t all, before;
        pthread_t thread;
        int r;

        if (!argument)
                return -ENOMEM;
        *argument = (start){ name, run, context };

        /* A thread inherits the mask of its creator: block before, so that there is no moment in
         * which a signal of the host could land here. */
        (void)sigfillset(&all);
        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
                (void)sigdelset(&all, faults[i]);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        r = pthread_create(&thread, &attributes, thread_main, argument);
        (void)pthread_attr_destroy(&attributes);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r == 0)
                return 0;
        free(argument);
        return -ENOMEM;
}
