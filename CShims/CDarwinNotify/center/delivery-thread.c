/* The executor that runs callbacks on a private thread of the library. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "darwinnotify/executor.h"
#include "util/fork.h"
#include "util/lock.h"
#include "util/queue.h"
#include "util/thread.h"

typedef struct delivery_thread {
        uint64_t fork_id; /* of the process that it runs in */
        dn__lock lock;
        dn__condition changed;
        dn__queue works DN__GUARDED_BY(&lock);
        bool is_started DN__GUARDED_BY(&lock);
} delivery_thread;

/* The one of this process; lives until its end. A forked child finds its parent's, whose thread
 * it does not have, and replaces it. */
static _Atomic(delivery_thread *) shared;

static delivery_thread *get_shared(void)
{
        delivery_thread *found = atomic_load_explicit(&shared, memory_order_acquire), *made;

        while (!found || found->fork_id != dn__fork_id()) {
                made = calloc(1, sizeof(*made));
                if (!made)
                        return NULL;
                made->fork_id = dn__fork_id();
                dn__lock_init(&made->lock);
                dn__condition_init(&made->changed);
                if (atomic_compare_exchange_strong(&shared, &found, made))
                        return made;
                dn__condition_deinit(&made->changed);
                dn__lock_deinit(&made->lock);
                free(made);
        }
        return found;
}

static dn__work next_work(delivery_thread *thread)
{
        dn__work work;

        dn__lock_acquire(&thread->lock);
        while (!dn__queue_pop(&thread->works, &work))
                (void)dn__condition_wait(&thread->changed, &thread->lock, DN__NEVER);
        dn__lock_release(&thread->lock);
        return work;
}

static void run(void *context)
{
        for (;;) {
                dn__work work = next_work(context);

                work.run(work.argument);
        }
}

static int push(delivery_thread *thread, dn__work work) DN__REQUIRES(&thread->lock)
{
        int r;

        if (!thread->is_started) {
                r = dn__thread_start("dn-delivery", run, thread);
                if (r < 0)
                        return r;
                thread->is_started = true;
        }
        return dn__queue_push(&thread->works, work);
}

static int enqueue(void *context, dn_work_fn work, void *argument)
{
        delivery_thread *thread = get_shared();
        int r;

        (void)context;
        if (!thread)
                return -ENOMEM;
        dn__lock_acquire(&thread->lock);
        r = push(thread, (dn__work){ work, argument });
        dn__lock_release(&thread->lock);
        if (r == 0)
                dn__condition_broadcast(&thread->changed);
        return r;
}

dn_executor dn_executor_delivery_thread(void)
{
        return (dn_executor){ .enqueue = enqueue };
}
