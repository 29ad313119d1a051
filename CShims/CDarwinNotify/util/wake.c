/* Wakes a thread that sleeps on a memory word, in this process or another. */
#include "util/wake.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"

/* Of futex operations. */
static const int flags[] = { [DN__WAKE_SHARED] = 0, [DN__WAKE_PRIVATE] = FUTEX_PRIVATE_FLAG };

void dn__wake_rouse(dn__wake_word *word, dn__wake_scope scope)
{
        (void)syscall(SYS_futex, word, FUTEX_WAKE | flags[scope], INT_MAX, NULL, NULL, 0);
}

bool dn__wake_stay_asleep(dn__wake_word *word, uint32_t asleep, dn__wake_scope scope,
                          uint64_t until_us)
{
        struct timespec until = dn__clock_timespec(until_us);
        long r = 0;

        while (r == 0 || errno == EINTR) {
                if (atomic_load(word) != asleep)
                        return true;
                /* This futex operation takes an absolute CLOCK_MONOTONIC deadline. */
                r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | flags[scope], asleep,
                            until_us == DN__NEVER ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
        }
        /* EAGAIN: it was rung just now. Any error other than a timeout would recur immediately: the
         * caller looks for work instead of waiting here forever. */
        return errno != ETIMEDOUT;
}
