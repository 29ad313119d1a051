/* Executors as the centers hold them: one host value, shared by all who enqueue to it. */
#pragma once

#include <stdbool.h>

#include "bus/service.h"
#include "darwinnotify/executor.h"

typedef struct dn__executor dn__executor;

/* Runs the destroy hook of a value; NULL is allowed. */
void dn__executor_consume(const dn_executor *value);

/* Wraps an executor value, which is consumed also on failure; NULL is the delivery thread.
 * `service` runs what is to run inline. Returns 0, -ENOMEM, or -EINVAL for a value that cannot
 * enqueue. */
int dn__executor_new(const dn_executor *value, dn__service *service, dn__executor **ret_executor);

/* NULL is allowed. Returns `executor`. */
dn__executor *dn__executor_ref(dn__executor *executor);

/* The last reference destroys the host's value. NULL is allowed. Returns NULL. */
dn__executor *dn__executor_unref(dn__executor *executor);

/* Tells whether both run the work of one queue. */
bool dn__executor_is_same(const dn__executor *a, const dn__executor *b);

/* Returns 0, or a negative errno: the work will never run. */
int dn__executor_enqueue(dn__executor *executor, dn_work_fn work, void *argument);
