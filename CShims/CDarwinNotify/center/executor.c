/* Executors as the centers hold them: one host value, shared by all who enqueue to it. */
#include "center/executor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct dn__executor {
        dn_executor value; /* the host's, as it is to be destroyed */
        int (*enqueue)(void *context, dn_work_fn work, void *argument);
        void *context;
        _Atomic unsigned n_refs;
};

/* Says "inline" until the service is known whose thread it means. */
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

void dn__executor_consume(const dn_executor *value)
{
        if (value && value->destroy)
                value->destroy(value->context);
}

int dn__executor_new(const dn_executor *value, dn__service *service, dn__executor **ret_executor)
{
        dn_executor delivery_thread = dn_executor_delivery_thread();
        dn__executor *executor;

        if (!value)
                value = &delivery_thread;
        executor = value->enqueue ? malloc(sizeof(*executor)) : NULL;
        if (!executor) {
                dn__executor_consume(value);
                return value->enqueue ? -ENOMEM : -EINVAL;
        }
        executor->value = *value;
        executor->enqueue = value->enqueue;
        executor->context = value->context;
        if (value->enqueue == inline_enqueue) {
                executor->enqueue = dn__service_enqueue;
                executor->context = service;
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
        dn__executor_consume(&executor->value);
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
