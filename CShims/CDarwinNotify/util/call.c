/* Marks calls of the library, which neither the end of their thread nor that of the library may
 * interrupt. */
#include "util/call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "util/clock.h"
#include "util/fork.h"
#include "util/thread.h"

/* How long a closed gate waits for running calls. Nearly all take less; one that waits for the call
 * of another thread must not be held up for long. */
#define CLOSE_TIMEOUT_US (5 * DN__US_PER_MS)
#define POLL_US 100

/* The number of running calls, whether the gate is closed and, in the upper half, the process: a
 * forked child does not have the calls of its parent's other threads. */
#define COUNT UINT64_C(0x7fffffff)
#define CLOSED UINT64_C(0x80000000)

static _Atomic uint64_t gate;

/* This thread's calls, one inside the other. */
static _Thread_local unsigned depth;

static uint32_t process_of(uint64_t found)
{
        return (uint32_t)(found >> 32);
}

static void rest(void)
{
        const struct timespec span = dn__clock_timespec(POLL_US);

        (void)nanosleep(&span, NULL);
}

/* Replaces what the parent counted. The caller's count was part of that. */
static void count_afresh(uint32_t process)
{
        uint64_t found = atomic_load(&gate);

        while (process_of(found) != process)
                if (atomic_compare_exchange_weak(&gate, &found, (uint64_t)process << 32 | 1))
                        return;
        (void)atomic_fetch_add(&gate, 1);
}

/* Returns whether the call is counted. */
static bool pass_gate(uint32_t process)
{
        uint64_t found = atomic_fetch_add(&gate, 1);

        if (process_of(found) != process)
                count_afresh(process);
        else if (found & CLOSED)
                (void)atomic_fetch_sub(&gate, 1);
        return process_of(found) != process || !(found & CLOSED);
}

dn__call dn__call_begin(void)
{
        dn__call call = { 0 };
        uint32_t process;

        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &call.cancel_state);
        if (depth++ > 0)
                return call;
        process = (uint32_t)dn__fork_id();
        while (!pass_gate(process)) {
                if (dn__thread_is_ours())
                        return call;
                while (atomic_load(&gate) & CLOSED)
                        rest();
        }
        call.counted_in = process;
        return call;
}

void dn__call_end(const dn__call *call)
{
        depth--;
        /* A child that was forked inside the call has counted nothing yet, or afresh. */
        if (call->counted_in && call->counted_in == (uint32_t)dn__fork_id())
                (void)atomic_fetch_sub(&gate, 1);
        (void)pthread_setcancelstate(call->cancel_state, NULL);
}

bool dn__call_is_inside(void)
{
        return depth > 0 || dn__thread_is_ours();
}

bool dn__call_close_gate(void)
{
        uint64_t until_us = dn__clock_after_us(CLOSE_TIMEOUT_US);

        (void)atomic_fetch_or(&gate, CLOSED);
        while ((atomic_load(&gate) & COUNT) > 1) {
                if (dn__clock_now_us() >= until_us) {
                        dn__call_open_gate();
                        return false;
                }
                rest();
        }
        return true;
}

void dn__call_open_gate(void)
{
        (void)atomic_fetch_and(&gate, ~CLOSED);
}
