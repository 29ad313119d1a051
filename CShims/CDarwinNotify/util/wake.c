/* Wakes a thread that sleeps on a memory word, in this process or another. */
#include "util/wake.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"

void dn__wake_rouse_block(_Atomic uint32_t *n_rings, uint32_t bits)
{
        (void)atomic_fetch_add(n_rings, 1);
        (void)syscall(SYS_futex, n_rings, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
}

/* The kernel finds a sleeper slightly faster if it need not look in other processes. */
void dn__wake_rouse(const dn__wake_target *target)
{
        if (target->n_rings)
                dn__wake_rouse_block(target->n_rings, target->bit);
        else
                (void)syscall(SYS_futex, target->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* As futex(): these operations take an absolute CLOCK_MONOTONIC deadline. */
static long sleep_while(const dn__wake_target *target, uint32_t value, const struct timespec *until)
{
        if (target->n_rings)
                return syscall(SYS_futex, target->n_rings, FUTEX_WAIT_BITSET, value, until, NULL,
                               target->bit);
        return syscall(SYS_futex, target->word, FUTEX_WAIT_BITSET_PRIVATE, value, until, NULL,
                       FUTEX_BITSET_MATCH_ANY);
}

bool dn__wake_stay_asleep(const dn__wake_target *target, uint32_t asleep, uint64_t until_us)
{
        struct timespec deadline = dn__clock_timespec(until_us);
        const struct timespec *until = until_us == DN__NEVER ? NULL : &deadline;
        long r = 0;

        while (r == 0 || errno == EINTR) {
                uint32_t value = target->n_rings ? atomic_load(target->n_rings) : asleep;

                if (atomic_load(target->word) != asleep)
                        return true;
                r = sleep_while(target, value, until);
        }
        /* EAGAIN: it, or another one of its block, was rung just now. Any error other than a
         * timeout would recur immediately: the caller looks for work instead of waiting here
         * forever. */
        return errno != ETIMEDOUT;
}
