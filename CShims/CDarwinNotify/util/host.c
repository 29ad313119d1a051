/* The only way from the library into functions of its host. */
#include "util/host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fork.h"

/* Maximum time to wait for running functions at exit. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* Of this process. */
typedef struct host {
        dn__per_process process;
        _Atomic unsigned n_running;
        dn__lock lock;
        dn__condition changed;
} host;

static _Atomic(dn__per_process *) shared;

/* Set when the process begins to exit. */
static _Atomic bool has_ended;

/* How many functions this thread is inside of. */
static _Thread_local unsigned depth;

static void init_host(void *state)
{
        host *host = state;

        dn__lock_init(&host->lock);
        dn__condition_init(&host->changed);
}

/* Wakes a thread that exits. */
static void wake_exit(host *host)
{
        DN__AUTO_LOCK(&host->lock);
        dn__condition_broadcast(&host->changed);
}

static void refuse_thread_exit(void *context)
{
        static const char text[] =
                "libdarwinnotify: a callback terminated its thread; callbacks must return\n";

        (void)context;
        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
        abort();
}

/* The only call of a function of the host. */
static void run(dn__host_fn function, void *context)
{
        pthread_cleanup_push(refuse_thread_exit, NULL);
        function(context);
        pthread_cleanup_pop(0);
}

/* Counted before it checks: either dn__host_end() waits for it, or it sees the end. */
bool dn__host_run(dn__host_fn function, void *context, bool may_be_late)
{
        host *host = dn__per_process_find(&shared);
        bool is_called;

        if (!host)
                host = dn__process_state_get(&shared, sizeof(*host), init_host);
        /* NULL: there is no memory to count it. */
        depth++;
        if (host)
                (void)atomic_fetch_add(&host->n_running, 1);
        is_called = may_be_late || !atomic_load(&has_ended);
        if (is_called)
                run(function, context);
        depth--;
        if (host)
                (void)atomic_fetch_sub(&host->n_running, 1);
        if (host && atomic_load(&has_ended))
                wake_exit(host);
        return is_called;
}

void dn__host_end(void)
{
        uint64_t deadline_us = dn__clock_after_us(EXIT_TIMEOUT_US);
        host *host;

        atomic_store(&has_ended, true);
        host = dn__per_process_find(&shared);
        if (!host)
                return; /* nothing was ever called */
        DN__AUTO_LOCK(&host->lock);
        while (atomic_load(&host->n_running) > depth &&
               dn__condition_wait(&host->changed, &host->lock, deadline_us) == 0)
                continue;
}

static void register_at_exit(void)
{
        /* If this fails, there is no memory for the host's own handlers either. */
        (void)atexit(dn__host_end);
}

void dn__host_expect_exit(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, register_at_exit);
}

void dn__host_free(void)
{
        host *host = dn__per_process_take(&shared);

        if (!host)
                return;
        dn__condition_deinit(&host->changed);
        dn__lock_deinit(&host->lock);
        free(host);
}
