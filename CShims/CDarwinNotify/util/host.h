/* The only way from the library into functions of its host.
 *
 * A function of the host may end its thread, which would leave what the library was doing with the
 * thread half done: the process is aborted, with a line on standard error. Once exit() has begun,
 * the runtime and the static objects of the host are being taken down: no handler starts any
 * more. A handler that stands for another one, such as that of a token, calls it directly. */
#pragma once

#include <stdbool.h>

#include "util/thread.h"

typedef void (*dn__host_fn)(void *context);

/* Calls a function of the host. `may_be_late`: also once exit() has begun. Returns whether it was
 * called. */
bool dn__host_run(dn__host_fn function, void *context, bool may_be_late);

static inline void dn__host_call(dn__host_fn function, void *context)
{
        (void)dn__host_run(function, context, true);
}

/* Calls a handler, or hands over work for one, unless exit() has begun. Returns whether it was
 * called. */
static inline bool dn__host_handle(dn__host_fn handler, void *context)
{
        return dn__host_run(handler, context, false);
}

/* Calls a hook that releases a context; NULL is allowed. Once exit() has begun, only a thread of
 * the host calls hooks. */
static inline void dn__host_release(dn__host_fn hook, void *context)
{
        if (hook)
                (void)dn__host_run(hook, context, !dn__thread_is_ours);
}

/* Notices when exit() begins. Idempotent. */
void dn__host_expect_exit(void);

/* exit() has begun: waits at most a second for running functions, except any that the caller is
 * inside of. */
void dn__host_end(void);

/* Frees the state of this process, while no function is running. */
void dn__host_free(void);
