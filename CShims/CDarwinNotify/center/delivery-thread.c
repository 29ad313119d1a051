/* The executor that runs callbacks on a private thread of the library. */
#include "center/delivery-thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "darwinnotify/executor.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/loop.h"

typedef struct delivery_thread {
        dn__per_process process;
        dn__loop *loop;
} delivery_thread;

static dn__per_process *make_thread(void *context)
{
        static const dn__loop_options options = { .thread_name = "dn-delivery" };
        delivery_thread *thread = calloc(1, sizeof(*thread));

        (void)context;
        if (thread && dn__loop_new(&options, &thread->loop) == 0)
                return &thread->process;
        free(thread);
        return NULL;
}

static void discard_thread(dn__per_process *made)
{
        delivery_thread *thread = DN__CONTAINER(made, delivery_thread, process);

        (void)dn__loop_close(thread->loop);
        free(thread);
}

static _Atomic(dn__per_process *) shared;

static delivery_thread *get_shared(void)
{
        dn__per_process *found = dn__per_process_get(&shared, make_thread, discard_thread, NULL);

        return found ? DN__CONTAINER(found, delivery_thread, process) : NULL;
}

static int enqueue_on_thread(void *context, dn_work_fn work, void *argument)
{
        delivery_thread *thread = get_shared();

        (void)context;
        return thread ? dn__loop_enqueue(thread->loop, work, argument) : -ENOMEM;
}

dn_executor dn_executor_delivery_thread(void)
{
        return (dn_executor){ .enqueue = enqueue_on_thread };
}

void dn__delivery_thread_close(void)
{
        dn__per_process *found = dn__per_process_take(&shared);

        if (found)
                discard_thread(found);
}
