/* An allocator that fails once, in the thread that says so. Include it in only one file of a test
 * program. */
#pragma once

#include "failing-allocator.h"

/* Allocations of this thread until one fails; negative: none fails. */
static _Thread_local int n_until_failure = -1;
static _Thread_local bool has_failed;

static inline bool allocation_fails(void)
{
        if (n_until_failure < 0 || n_until_failure-- > 0)
                return false;
        has_failed = true;
        return true;
}
