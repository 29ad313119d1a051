/* The centers' executors: one host value shared by all its users. */
#pragma once

#include <stdbool.h>

#include "darwinnotify/executor.h"
#include "util/loop.h"

typedef struct dn__executor dn__executor;

/* Wraps an executor value, which is retained; NULL is the delivery thread. Inline work runs on the
 * loop. A thread of the library starts now, where a failure can be reported: returns 0; -EINVAL for
 * a value that cannot enqueue; -ENOMEM, or -EAGAIN if there is no thread to be had. */
int dn__executor_new(const dn_executor *value, dn__loop *loop, dn__executor **ret_executor);

/* NULL is allowed. Returns `executor`. */
dn__executor *dn__executor_ref(dn__executor *executor);

/* The last reference releases the host's value. NULL is allowed. Returns NULL. */
dn__executor *dn__executor_unref(dn__executor *executor);

/* Returns whether both enqueue to the same queue. NULL is only the same as NULL. */
bool dn__executor_is_same(const dn__executor *a, const dn__executor *b);

/* Returns 0, or a negative errno if the work will never run. */
int dn__executor_enqueue(dn__executor *executor, dn_work_fn work, void *argument);

/* Returns the loop of the delivery thread, borrowed, or NULL if out of memory. */
dn__loop *dn__delivery_thread_get(void);

/* Returns whether a value, which may be NULL, means the delivery thread. */
bool dn__executor_is_delivery_thread(const dn_executor *value);

/* Ends the delivery thread, once it has run its work. It starts again when needed. */
void dn__delivery_thread_close(void);
