/* A gate for calls of the library, which neither the end of their thread nor that of the library
 * may interrupt. */
#include "util/gate.h"

#include <pthread.h>
#include <stdatomic.h>

#include "util/clock.h"
#include "util/thread.h"

/* How long a closed gate waits for running calls. Nearly all take less; a call that waits for
 * another thread's call must not be delayed for long. */
#define CLOSE_TIMEOUT_US (5 * DN__US_PER_MS)
#define POLL_US 100

/* The number of running calls, and whether the gate is closed. */
#define CLOSED UINT32_C(0x80000000)

static _Atomic uint32_t gate;

/* This thread's calls, one inside the other. */
static _Thread_local unsigned depth;

/* A forked child does not have the calls of its parent's other threads. */
static void start_child(void)
{
        atomic_store(&gate, depth > 0);
}

/* If this fails, a child cannot be shut down while a thread of its parent was in a call. */
static void register_fork_handler(void)
{
        (void)pthread_atfork(NULL, NULL, start_child);
}

/* Returns whether the call is counted. */
static bool pass_gate(void)
{
        if (!(atomic_fetch_add(&gate, 1) & CLOSED))
                return true;
        (void)atomic_fetch_sub(&gate, 1);
        return false;
}

dn__gate_pass dn__gate_enter(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        dn__gate_pass pass = { 0 };

        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &pass.cancel_state);
        if (depth++ > 0)
                return pass;
        (void)pthread_once(&once, register_fork_handler);
        while (!(pass.is_counted = pass_gate()) && !dn__thread_is_ours())
                while (atomic_load(&gate) & CLOSED)
                        dn__clock_sleep_until(dn__clock_after_us(POLL_US));
        return pass;
}

void dn__gate_leave(const dn__gate_pass *pass)
{
        depth--;
        if (pass->is_counted)
                (void)atomic_fetch_sub(&gate, 1);
        (void)pthread_setcancelstate(pass->cancel_state, NULL);
}

void dn__gate_keep(void)
{
        (void)atomic_fetch_add(&gate, 1);
}

void dn__gate_keep_no_more(void)
{
        (void)atomic_fetch_sub(&gate, 1);
}

bool dn__gate_is_inside(void)
{
        return depth > 0 || dn__thread_is_ours();
}

bool dn__gate_close(void)
{
        uint64_t until_us = dn__clock_after_us(CLOSE_TIMEOUT_US);

        /* Closes it each time: another thread that gave up closing it may have opened it. */
        while ((atomic_fetch_or(&gate, CLOSED) & ~CLOSED) > 1) {
                if (dn__clock_now_us() >= until_us) {
                        dn__gate_open();
                        return false;
                }
                dn__clock_sleep_until(dn__clock_after_us(POLL_US));
        }
        return true;
}

void dn__gate_open(void)
{
        (void)atomic_fetch_and(&gate, ~CLOSED);
}
