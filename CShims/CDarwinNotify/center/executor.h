/* The centers' executors: one host value shared by all its users. */
#pragma once

#include <stdbool.h>

#include "darwinnotify/executor.h"
#include "util/loop.h"

typedef struct dn__executor dn__executor;

/* Wraps an executor value, which is retained; NULL is the delivery thread. Inline work runs on the
 * loop. Returns 0, -ENOMEM, or -EINVAL for a value that cannot enqueue. */
int dn__executor_new(const dn_executor *value, dn__loop *loop, dn__executor **ret_executor);

/* NULL is allowed. Returns `executor`. */
dn__executor *dn__executor_ref(dn__executor *executor);

/* The last reference releases the host's value. NULL is allowed. Returns NULL. */
dn__executor *dn__executor_unref(dn__executor *executor);

/* Returns a value that stands for the executor, borrowed with it. */
dn_executor dn__executor_get_value(dn__executor *executor);

/* Returns whether both enqueue to the same queue. */
bool dn__executor_is_same(const dn__executor *a, const dn__executor *b);

/* Returns 0, or a negative errno if the work will never run. */
int dn__executor_enqueue(dn__executor *executor, dn_work_fn work, void *argument);
