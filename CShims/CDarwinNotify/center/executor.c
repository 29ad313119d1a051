/* The centers' executors: one host value shared by all its users. */
#include "center/executor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct dn__executor {
        dn_executor value; /* the host's, retained */
        int (*enqueue)(void *context, dn_work_fn work, void *argument);
        void *context;
        _Atomic unsigned n_refs;
};

/* Identifies "inline" until the loop whose thread it means is known. */
static int inline_enqueue(void *context, dn_work_fn work, void *argument)
{
        (void)context;
        (void)work;
        (void)argument;
        return -EINVAL;
}

dn_executor dn_executor_inline(void)
{
        return (dn_executor){ .enqueue = inline_enqueue };
}

/* The enqueue function of values from dn__executor_get_value(): dn__executor_new() unwraps such
 * values. */
static int enqueue_shared(void *context, dn_work_fn work, void *argument)
{
        return dn__executor_enqueue(context, work, argument);
}

static void retain_shared(void *context)
{
        (void)dn__executor_ref(context);
}

static void release_shared(void *context)
{
        (void)dn__executor_unref(context);
}

int dn__executor_new(const dn_executor *value, dn__loop *loop, dn__executor **ret_executor)
{
        dn_executor delivery_thread = dn_executor_delivery_thread();
        dn__executor *executor;

        if (!value)
                value = &delivery_thread;
        if (value->enqueue == enqueue_shared) {
                *ret_executor = dn__executor_ref(value->context);
                return 0;
        }
        if (!value->enqueue)
                return -EINVAL;
        executor = malloc(sizeof(*executor));
        if (!executor)
                return -ENOMEM;
        if (value->retain)
                value->retain(value->context);
        executor->value = *value;
        executor->enqueue = value->enqueue;
        executor->context = value->context;
        if (value->enqueue == inline_enqueue) {
                executor->enqueue = dn__loop_enqueue;
                executor->context = loop;
        }
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
        if (executor->value.release)
                executor->value.release(executor->value.context);
        free(executor);
        return NULL;
}

bool dn__executor_is_same(const dn__executor *a, const dn__executor *b)
{
        return a->enqueue == b->enqueue && a->context == b->context;
}

int dn__executor_enqueue(dn__executor *executor, dn_work_fn work, void *argument)
{
        return executor->enqueue(executor->context, work, argument);
}

dn_executor dn__executor_get_value(dn__executor *executor)
{
        return (dn_executor){ enqueue_shared, executor, retain_shared, release_shared };
}
