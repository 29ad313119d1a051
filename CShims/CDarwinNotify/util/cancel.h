/* Protects calls of the library from the cancellation of the calling thread.
 *
 * A cancelled thread would leave locks and references held. So each public function that takes any
 * begins with DN__UNCANCELLED(): pthread_cancel() takes effect in the host's own code, after the
 * call. Callbacks that run inside the call are part of it. */
#pragma once

#include <pthread.h>

#include "util/cleanup.h"

#define DN__UNCANCELLED()                                                                          \
        const int cancel_state_ DN__CLEANUP(dn__cancel_restore) = dn__cancel_forbid()

static inline int dn__cancel_forbid(void)
{
        int before;

        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        return before;
}

static inline void dn__cancel_restore(const int *before)
{
        (void)pthread_setcancelstate(*before, NULL);
}
