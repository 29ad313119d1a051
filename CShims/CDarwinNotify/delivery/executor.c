/* The centers' executors: one host value shared by all its users. */
#include "delivery/executor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/fork.h"
#include "util/host.h"
#include "util/list.h"
#include "util/reserved.h"

struct dn__executor {
        dn_executor value;  /* the host's, retained */
        dn_executor target; /* the same, or a loop of ours */
        _Atomic unsigned n_refs;
};

/* --- The delivery thread ------------------------------------------------------------------ */

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

dn__loop *dn__delivery_thread_get(void)
{
        dn__per_process *found = dn__per_process_get(&shared, make_thread, discard_thread, NULL);

        return found ? DN__CONTAINER(found, delivery_thread, process)->loop : NULL;
}

static int enqueue_on_thread(void *context, dn_work_fn work, void *argument)
{
        dn__loop *loop = dn__delivery_thread_get();

        (void)context;
        return loop ? dn__loop_enqueue(loop, work, argument) : -ENOMEM;
}

const dn_executor *dn_executor_delivery_thread(void)
{
        static const dn_executor value = { .enqueue = enqueue_on_thread };

        return &value;
}

bool dn__executor_is_delivery_thread(const dn_executor *value)
{
        return !value || value->enqueue == enqueue_on_thread;
}

void dn__delivery_thread_close(void)
{
        dn__per_process *found = dn__per_process_take(&shared);

        if (found)
                discard_thread(found);
}

/* --- The inline executor -------------------------------------------------------------------- */

/* Identifies "inline" until the loop whose thread it means is known. */
static int inline_enqueue(void *context, dn_work_fn work, void *argument)
{
        (void)context;
        (void)work;
        (void)argument;
        return -EINVAL;
}

const dn_executor *dn_executor_inline(void)
{
        static const dn_executor value = { .enqueue = inline_enqueue };

        return &value;
}

/* --- Shared values -------------------------------------------------------------------------- */

int dn__executor_new(const dn_executor *value, dn__loop *loop, dn__executor **ret_executor)
{
        dn_executor target = { .enqueue = dn__loop_enqueue, .context = loop };
        dn__executor *executor;
        int r;

        if (dn__executor_is_delivery_thread(value))
                target.context = dn__delivery_thread_get();
        else if (value->enqueue != inline_enqueue)
                target = *value;
        if (!target.enqueue || (value && !dn__reserved_is_zero(value->reserved)))
                return -EINVAL;
        if (target.enqueue == dn__loop_enqueue) {
                r = target.context ? dn__loop_start(target.context) : -ENOMEM;
                if (r < 0)
                        return r;
        }
        executor = malloc(sizeof(*executor));
        if (!executor)
                return -ENOMEM;
        executor->value = value ? *value : (dn_executor){ 0 };
        executor->target = target;
        if (executor->value.retain)
                dn__host_call(executor->value.retain, executor->value.context);
        atomic_init(&executor->n_refs, 1);
        *ret_executor = executor;
        return 0;
}

dn__executor *dn__executor_ref(dn__executor *executor)
{
        if (executor)
                atomic_fetch_add_explicit(&executor->n_refs, 1, memory_order_relaxed);
        return executor;
}

dn__executor *dn__executor_unref(dn__executor *executor)
{
        if (!executor ||
            atomic_fetch_sub_explicit(&executor->n_refs, 1, memory_order_acq_rel) != 1)
                return NULL;
        dn__host_release(executor->value.release, executor->value.context);
        free(executor);
        return NULL;
}

bool dn__executor_is_same(const dn__executor *a, const dn__executor *b)
{
        return a == b || (a && b && a->target.enqueue == b->target.enqueue &&
                           a->target.context == b->target.context);
}

typedef struct enqueuing {
        const dn_executor *target;
        dn_work_fn work;
        void *argument;
        int r;
} enqueuing;

static void enqueue_at_host(void *context)
{
        enqueuing *enqueuing = context;
        const dn_executor *target = enqueuing->target;

        enqueuing->r = target->enqueue(target->context, enqueuing->work, enqueuing->argument);
}

int dn__executor_enqueue(dn__executor *executor, dn_work_fn work, void *argument)
{
        enqueuing enqueuing = { &executor->target, work, argument, -ECANCELED };

        if (executor->target.enqueue == dn__loop_enqueue)
                return dn__loop_enqueue(executor->target.context, work, argument);
        /* The work may have the last reference, and end before `enqueue` returns. */
        (void)dn__executor_ref(executor);
        (void)dn__host_handle(enqueue_at_host, &enqueuing);
        (void)dn__executor_unref(executor);
        return enqueuing.r;
}
