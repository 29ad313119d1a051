/* The executor that runs callbacks on a private thread of the library. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "darwinnotify/executor.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/queue.h"
#include "util/thread.h"

typedef struct delivery_thread {
        dn__per_process process;
        dn__lock lock;
        dn__condition changed;
        dn__queue works DN__GUARDED_BY(&lock);
        bool is_started DN__GUARDED_BY(&lock);
} delivery_thread;

static dn__per_process *make(void *context)
{
        delivery_thread *thread = calloc(1, sizeof(*thread));

        (void)context;
        if (!thread)
                return NULL;
        dn__lock_init(&thread->lock);
        dn__condition_init(&thread->changed);
        return &thread->process;
}

static void unmake(dn__per_process *made)
{
        delivery_thread *thread = DN__CONTAINER(made, delivery_thread, process);

        dn__condition_deinit(&thread->changed);
        dn__lock_deinit(&thread->lock);
        free(thread);
}

/* Lives until the end of the process. */
static delivery_thread *get_shared(void)
{
        static _Atomic(dn__per_process *) shared;
        dn__per_process *found = dn__per_process_get(&shared, make, unmake, NULL);

        return found ? DN__CONTAINER(found, delivery_thread, process) : NULL;
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
