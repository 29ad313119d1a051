/* Lets a call of the library end before what it uses does. */
#include "util/gate.h"

#include <pthread.h>

#include "util/thread.h"

/* Threads that count in different cache lines do not slow each other down. */
#define N_LINES 16

typedef struct line {
        _Alignas(64) _Atomic uint32_t n_inside[DN__N_GATE_KINDS];
} line;

static line lines[N_LINES];

/* This thread's calls, one inside the other, and the line that counts the outermost. */
static _Thread_local unsigned depth;
static _Thread_local const _Atomic uint32_t *counted_by;

/* Returns the line of this thread. */
static line *get_line(void)
{
        static _Atomic unsigned n_threads;
        static _Thread_local line *own;

        if (!own)
                own = &lines[atomic_fetch_add(&n_threads, 1) % N_LINES];
        return own;
}

/* A forked child does not have the calls of its parent's other threads. */
static void start_child(void)
{
        for (unsigned i = 0; i < N_LINES; i++)
                for (unsigned kind = 0; kind < DN__N_GATE_KINDS; kind++) {
                        _Atomic uint32_t *counter = &lines[i].n_inside[kind];

                        atomic_store(counter, counter == counted_by);
                }
}

/* If this fails, a child cannot be shut down while a thread of its parent was in a call. */
static void register_fork_handler(void)
{
        (void)pthread_atfork(NULL, NULL, start_child);
}

dn__gate_pass dn__gate_enter(dn__gate_kind kind)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        dn__gate_pass pass = { 0 };

        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &pass.cancel_state);
        if (depth++ > 0 || dn__thread_is_ours)
                return pass;
        (void)pthread_once(&once, register_fork_handler);
        pass.counter = &get_line()->n_inside[kind];
        counted_by = pass.counter;
        (void)atomic_fetch_add(pass.counter, 1);
        return pass;
}

void dn__gate_leave(const dn__gate_pass *pass)
{
        depth--;
        if (pass->counter) {
                counted_by = NULL;
                (void)atomic_fetch_sub(pass->counter, 1);
        }
        (void)pthread_setcancelstate(pass->cancel_state, NULL);
}

void dn__gate_keep(dn__gate_kind kind)
{
        (void)atomic_fetch_add(&lines[0].n_inside[kind], 1);
}

void dn__gate_keep_no_more(dn__gate_kind kind)
{
        (void)atomic_fetch_sub(&lines[0].n_inside[kind], 1);
}

bool dn__gate_is_inside(void)
{
        return depth > 0 || dn__thread_is_ours;
}

bool dn__gate_has_others(dn__gate_kind kind)
{
        uint32_t n = 0;

        for (unsigned i = 0; i < N_LINES; i++)
                n += atomic_load(&lines[i].n_inside[kind]);
        return n > (counted_by == &get_line()->n_inside[kind]);
}
