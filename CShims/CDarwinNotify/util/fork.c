/* Separates a forked child from its parent.
 *
 * A fork handler closes the parent's descriptors in the child and gives it another ID. Nothing here
 * takes a lock: a thread that does not exist in the child may hold it. Atomic operations are
 * sequentially consistent unless stated otherwise. */
#include "util/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/descriptor.h"

_Atomic uint64_t dn__fork_own_id = 1;

static _Atomic pid_t own_pid; /* 0: nothing was ever used */

static int init_result = -ENOMEM;

/* --- Descriptors that a forked child closes --------------------------------------------------- */

/* Guards are reused, not freed: a child may walk the list at any moment. */
struct dn__fork_guard {
        dn__fork_guard *next; /* constant once in the list */
        _Atomic int fd;       /* or one of the two constants below */
        struct stat status;   /* identifies the open file: the host may have closed it */
};

/* The file of an unknown descriptor could not be identified: a child leaves it open. */
enum { UNUSED = -1, UNKNOWN = -2 };

static _Atomic(dn__fork_guard *) guards;

static dn__fork_guard *find_unused(void)
{
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
                int unused = UNUSED;

                if (atomic_compare_exchange_strong(&guard->fd, &unused, UNKNOWN))
                        return guard;
        }
        return NULL;
}

static dn__fork_guard *add_new(void)
{
        dn__fork_guard *guard = malloc(sizeof(*guard));

        if (!guard)
                return NULL;
        atomic_init(&guard->fd, UNKNOWN);
        guard->next = atomic_load(&guards);
        while (!atomic_compare_exchange_weak(&guards, &guard->next, guard))
                continue;
        return guard;
}

dn__fork_guard *dn__fork_guard_new(int fd)
{
        dn__fork_guard *guard;

        if (dn__fork_init() < 0)
                return NULL;
        guard = find_unused();
        if (!guard)
                guard = add_new();
        dn__fork_guard_set(guard, fd);
        return guard;
}

void dn__fork_guard_set(dn__fork_guard *guard, int fd)
{
        if (!guard)
                return;
        atomic_store(&guard->fd, UNKNOWN);
        if (fstat(fd, &guard->status) == 0)
                atomic_store(&guard->fd, fd);
}

dn__fork_guard *dn__fork_guard_free(dn__fork_guard *guard)
{
        if (guard)
                atomic_store(&guard->fd, UNUSED);
        return NULL;
}

/* Eventfd, epoll, timer and inotify descriptors share one inode. */
bool dn__fork_guard_is_intact(const dn__fork_guard *guard)
{
        int fd = guard ? atomic_load(&guard->fd) : UNKNOWN;

        return fd == UNKNOWN || dn__descriptor_refers_to(fd, &guard->status);
}

/* A child that is forked in between keeps the descriptor: with the guard alone it would close what
 * the host has opened with the number since. */
dn__fork_guard *dn__fork_guard_close(dn__fork_guard *guard, int fd)
{
        bool is_ours = dn__fork_guard_is_intact(guard);

        (void)dn__fork_guard_free(guard);
        if (is_ours)
                (void)close(fd);
        return NULL;
}

/* A child that is forked meanwhile sees all guards or none, all unused. */
void dn__fork_guards_free(void)
{
        dn__fork_guard *guard = atomic_exchange(&guards, NULL);

        while (guard) {
                dn__fork_guard *next = guard->next;

                free(guard);
                guard = next;
        }
}

/* --- Forks ----------------------------------------------------------------------------------- */

static void leave_parent(void)
{
        for (dn__fork_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
                int fd = atomic_load(&guard->fd);

                if (fd >= 0)
                        (void)dn__fork_guard_close(guard, fd);
        }
        atomic_store(&own_pid, getpid());
        (void)atomic_fetch_add(&dn__fork_own_id, 1);
}

void dn__fork_leave_parent(void)
{
        pid_t pid = atomic_load(&own_pid);

        if (pid && pid != getpid())
                leave_parent();
}

static void init_once(void)
{
        atomic_store(&own_pid, getpid());
        init_result = pthread_atfork(NULL, NULL, leave_parent) == 0 ? 0 : -ENOMEM;
}

int dn__fork_init(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, init_once);
        return init_result;
}

/* --- Per-process state ------------------------------------------------------------------------ */

dn__per_process *dn__per_process_get(_Atomic(dn__per_process *) *variable,
                                     dn__per_process *(*make)(void *context),
                                     void (*discard)(dn__per_process *made), void *context)
{
        dn__per_process *found = atomic_load(variable), *made;

        while (!found || found->fork_id != dn__fork_id()) {
                if (!found && dn__fork_init() < 0)
                        return NULL;
                made = make(context);
                if (!made)
                        return NULL;
                made->fork_id = dn__fork_id();
                made->parents = found;
                if (atomic_compare_exchange_strong(variable, &found, made))
                        return made;
                discard(made);
        }
        return found;
}

void *dn__per_process_take(_Atomic(dn__per_process *) *variable)
{
        dn__per_process *found = dn__per_process_find(variable);

        if (found)
                atomic_store(variable, found->parents);
        return found;
}

typedef struct wanted {
        size_t n_bytes;
        void (*init)(void *state);
} wanted;

static dn__per_process *make(void *context)
{
        const wanted *wanted = context;
        void *state = calloc(1, wanted->n_bytes);

        if (state)
                wanted->init(state);
        return state;
}

/* A lock that was never used has nothing to free. */
static void discard(dn__per_process *state)
{
        free(state);
}

void *dn__process_state_get(_Atomic(dn__per_process *) *variable, size_t n_bytes,
                            void (*init)(void *state))
{
        return dn__per_process_get(variable, make, discard, &(wanted){ n_bytes, init });
}

static void init_list(void *state)
{
        dn__process_list *list = state;

        dn__lock_init(&list->lock);
        dn__list_init(&list->head);
}

dn__process_list *dn__process_list_get(_Atomic(dn__per_process *) *variable)
{
        return dn__process_state_get(variable, sizeof(dn__process_list), init_list);
}
