/* Executors of a host: one refuses all work and counts its references, the other keeps one piece of
 * work until the test runs it. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <errno.h>

#include "test.h"

static _Atomic int n_executors_retained;

static inline int refuse_work(void *context, dn_work_fn work, void *argument)
{
        return -ENOMEM;
}

static inline void retain_executor(void *context)
{
        n_executors_retained++;
}

static inline void release_executor(void *context)
{
        CHECK(n_executors_retained-- > 0);
}

static inline dn_executor refusing_executor(void)
{
        return (dn_executor){.enqueue = refuse_work, .retain = retain_executor,
                             .release = release_executor};
}

static dn_work_fn kept_work;
static void *kept_argument;
static _Atomic bool is_kept;

static inline int keep_work(void *context, dn_work_fn work, void *argument)
{
        kept_work = work;
        kept_argument = argument;
        is_kept = true;
        return 0;
}

static inline void run_kept_work(void)
{
        is_kept = false;
        kept_work(kept_argument);
}
