/* Creates the library's threads: named, with every signal left to the host's threads. */
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"

/* The threads of this process. Each joins the one that ended before it, so that all but the last
 * one are gone, with their stacks. */
typedef struct threads {
        dn__per_process process;
        dn__lock lock;
        dn__condition changed;
        unsigned n_running DN__GUARDED_BY(&lock);
        bool has_ended DN__GUARDED_BY(&lock);
        pthread_t ended DN__GUARDED_BY(&lock); /* not joined yet */
        bool are_detached DN__GUARDED_BY(&lock);
} threads;

static _Atomic(dn__per_process *) shared;

static _Thread_local bool is_ours;

bool dn__thread_is_ours(void)
{
        return is_ours;
}

/* --- The threads of this process -------------------------------------------------------------- */

static dn__per_process *make_threads(void *context)
{
        threads *threads = calloc(1, sizeof(*threads));

        (void)context;
        if (!threads)
                return NULL;
        dn__lock_init(&threads->lock);
        dn__condition_init(&threads->changed);
        return &threads->process;
}

static void discard_threads(dn__per_process *made)
{
        threads *threads = DN__CONTAINER(made, struct threads, process);

        dn__condition_deinit(&threads->changed);
        dn__lock_deinit(&threads->lock);
        free(threads);
}

static threads *threads_of(dn__per_process *found)
{
        return found ? DN__CONTAINER(found, threads, process) : NULL;
}

static void begin(threads *threads)
{
        DN__HOLD(&threads->lock);
        threads->n_running++;
}

/* For a thread that could not be started. */
static void take_back(threads *threads)
{
        DN__HOLD(&threads->lock);
        threads->n_running--;
}

static void end(threads *threads)
{
        bool has_ended;
        pthread_t before;

        dn__lock_acquire(&threads->lock);
        has_ended = threads->has_ended;
        before = threads->ended;
        threads->ended = pthread_self();
        threads->has_ended = !threads->are_detached;
        if (threads->are_detached)
                (void)pthread_detach(threads->ended);
        threads->n_running--;
        dn__condition_broadcast(&threads->changed);
        dn__lock_release(&threads->lock);
        if (has_ended)
                (void)pthread_join(before, NULL);
}

/* --- One thread ------------------------------------------------------------------------------- */

typedef struct start {
        threads *threads;
        const char *name;
        void (*run)(void *context);
        void *context;
} start;

static void *thread_main(void *argument)
{
        start start = *(struct start *)argument;

        free(argument);
        is_ours = true;
        /* Only a callback could cancel it, leaving the library's locks held. */
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        (void)pthread_setname_np(pthread_self(), start.name);
        start.run(start.context);
        end(start.threads);
        return NULL;
}

/* A thread inherits its creator's mask: block signals first, so the host's signals can never be
 * delivered here. */
static int create(start *start)
{
        static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
        sigset_t all, before;
        pthread_t thread;
        int r;

        (void)sigfillset(&all);
        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
                (void)sigdelset(&all, faults[i]);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(&thread, NULL, thread_main, start);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return r;
}

/* --- Joining ---------------------------------------------------------------------------------- */

static bool take_ended(threads *threads, pthread_t *ret_ended)
{
        bool has_ended;

        DN__HOLD(&threads->lock);
        has_ended = threads->has_ended;
        threads->has_ended = false;
        *ret_ended = threads->ended;
        return has_ended;
}

static void await_end(threads *threads)
{
        DN__HOLD(&threads->lock);
        while (threads->n_running > 0)
                (void)dn__condition_wait(&threads->changed, &threads->lock, DN__NEVER);
}

static void join_ended(threads *threads)
{
        pthread_t ended;

        if (take_ended(threads, &ended))
                (void)pthread_join(ended, NULL);
}

static void detach(threads *threads)
{
        DN__HOLD(&threads->lock);
        threads->are_detached = true;
}

static void detach_all(void)
{
        threads *threads = threads_of(dn__per_process_find(&shared));

        if (!threads)
                return;
        detach(threads);
        join_ended(threads);
}

void dn__thread_join_all(void)
{
        threads *threads = threads_of(dn__per_process_take(&shared));

        if (!threads)
                return;
        await_end(threads);
        join_ended(threads);
        discard_threads(&threads->process);
}

/* --- Starting ------------------------------------------------------------------------------- */

static void register_at_exit(void)
{
        /* If this fails, there is no memory for the host's own handlers either. */
        (void)atexit(detach_all);
}

int dn__thread_start(const char *name, void (*run)(void *context), void *context)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        threads *threads = threads_of(
                dn__per_process_get(&shared, make_threads, discard_threads, NULL));
        start *argument = threads ? malloc(sizeof(*argument)) : NULL;

        if (!argument)
                return -ENOMEM;
        (void)pthread_once(&once, register_at_exit);
        *argument = (start){ threads, name, run, context };
        begin(threads);
        if (create(argument) == 0)
                return 0;
        take_back(threads);
        free(argument);
        return -ENOMEM;
}
