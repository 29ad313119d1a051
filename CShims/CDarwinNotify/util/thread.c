/* Creates the library's threads: named, with every signal left to the host's threads. */
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/lock.h"

/* How long to wait at exit for destructors of the host on threads that have ended. */
#define EXIT_TIMEOUT_S 1

/* One thread of the library. */
typedef struct thread {
        struct threads *threads;
        struct thread *next; /* in the list of ended threads */
        pthread_t id;        /* set when it has ended */
        const char *name;
        void (*run)(void *context);
        void *context;
} thread;

/* The threads of this process. A thread cannot free its own stack, and a thread that only waits for
 * others would itself be in the way: so each start joins the threads that have ended since the last
 * start. */
typedef struct threads {
        dn__per_process process;
        dn__lock lock;
        dn__condition changed;
        unsigned n_running DN__GUARDED_BY(&lock);
        thread *ended DN__GUARDED_BY(&lock); /* not joined yet */
        bool are_detached DN__GUARDED_BY(&lock); /* nobody joins them any more */
} threads;

static _Atomic(dn__per_process *) shared;

_Thread_local bool dn__thread_is_ours;

/* --- The threads of this process -------------------------------------------------------------- */

static void init_threads(void *state)
{
        threads *threads = state;

        dn__lock_init(&threads->lock);
        dn__condition_init(&threads->changed);
}

static void count(threads *threads, int n)
{
        DN__AUTO_LOCK(&threads->lock);
        threads->n_running += (unsigned)n;
}

/* Lists a thread to be joined, or leaves that to the system. */
static void add_ended(threads *threads, thread *thread) DN__REQUIRES(&threads->lock)
{
        if (threads->are_detached) {
                (void)pthread_detach(thread->id);
                free(thread);
        } else {
                thread->next = threads->ended;
                threads->ended = thread;
        }
}

/* The last use of the list by this thread: it may be freed afterwards. */
static void end(thread *thread)
{
        threads *threads = thread->threads;
        DN__AUTO_LOCK(&threads->lock);

        thread->id = pthread_self();
        add_ended(threads, thread);
        threads->n_running--;
        dn__condition_broadcast(&threads->changed);
}

/* --- One thread ------------------------------------------------------------------------------- */

static void *thread_main(void *argument)
{
        thread *thread = argument;

        dn__thread_is_ours = true;
        /* Only a callback could cancel it, leaving the library's locks held. */
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        (void)pthread_setname_np(pthread_self(), thread->name);
        thread->run(thread->context);
        end(thread);
        return NULL;
}

/* A thread inherits its creator's mask: block signals first, so the host's signals can never be
 * delivered here. */
static int create(thread *thread)
{
        static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
        sigset_t all, before;
        pthread_t id;
        int r;

        (void)sigfillset(&all);
        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
                (void)sigdelset(&all, faults[i]);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(&id, NULL, thread_main, thread);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        /* A sandbox may refuse it with any error. */
        return r == 0 || r == ENOMEM ? -r : -EAGAIN;
}

/* --- Joining ---------------------------------------------------------------------------------- */

static void put_back(threads *threads, thread *ended)
{
        DN__AUTO_LOCK(&threads->lock);
        add_ended(threads, ended);
}

/* `until`: by the wall clock, 0 for no wait; NULL: for as long as it takes. */
static int join(pthread_t id, const struct timespec *until)
{
        return until ? pthread_timedjoin_np(id, NULL, until) : pthread_join(id, NULL);
}

/* Without the lock: a destructor of the host on a thread that is joined may start another one. */
static void join_ended(threads *threads, const struct timespec *until)
{
        thread *ended, *next;

        dn__lock_acquire(&threads->lock);
        next = DN__TAKE(threads->ended);
        dn__lock_release(&threads->lock);
        while ((ended = next)) {
                next = ended->next;
                if (join(ended->id, until) == 0)
                        free(ended);
                else
                        put_back(threads, ended);
        }
}

/* Not for ever: a destructor of the host may need a lock of the thread that exits. */
void dn__thread_at_exit(void)
{
        threads *threads = dn__per_process_find(&shared);
        struct timespec until;

        if (!threads)
                return;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += EXIT_TIMEOUT_S;
        dn__lock_acquire(&threads->lock);
        threads->are_detached = true;
        dn__lock_release(&threads->lock);
        join_ended(threads, &until);
}

void dn__thread_join_all(void)
{
        threads *threads = dn__per_process_find(&shared);

        if (!threads)
                return;
        dn__lock_acquire(&threads->lock);
        while (threads->n_running > 0)
                (void)dn__condition_wait(&threads->changed, &threads->lock, DN__NEVER);
        dn__lock_release(&threads->lock);
        join_ended(threads, NULL);
        dn__condition_deinit(&threads->changed);
        dn__lock_deinit(&threads->lock);
        free(dn__per_process_take(&shared));
}

/* --- Starting ------------------------------------------------------------------------------- */

int dn__thread_start(const char *name, void (*run)(void *context), void *context)
{
        threads *threads = dn__process_state_get(&shared, sizeof(*threads), init_threads);
        thread *thread = threads ? malloc(sizeof(*thread)) : NULL;
        int r;

        if (!thread)
                return -ENOMEM;
        /* A thread that is still ending, perhaps in a destructor of the host that needs a lock of
         * our caller, is left for the next time. */
        join_ended(threads, &(struct timespec){ 0 });
        *thread = (struct thread){ threads, .name = name, .run = run, .context = context };
        count(threads, 1);
        r = create(thread);
        if (r < 0) {
                count(threads, -1);
                free(thread);
        }
        return r;
}
