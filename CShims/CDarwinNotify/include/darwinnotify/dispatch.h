/* notify_register_dispatch(), for programs with blocks.
 *
 * All of it stands here, on top of dn_notify_register_callback(): the library itself needs
 * neither. Link the program with -ldispatch -lBlocksRuntime. */
#ifndef DARWINNOTIFY_DISPATCH_H
#define DARWINNOTIFY_DISPATCH_H

#include <Block.h>
#include <dispatch/dispatch.h>
#include <stdlib.h>

#include "token.h"

DN_BEGIN_DECLS

/** A block that is handed the token it was registered with. */
typedef void (^notify_handler_t)(int token);

/* Casts between a block and what the struct below has of it: a copy that nobody else releases. */
#if defined(__OBJC__) && __has_feature(objc_arc)
#define DN__BRIDGE __bridge
#else
#define DN__BRIDGE
#endif

typedef struct dn__dispatch_handler {
        void *block; /* owned */
        dispatch_queue_t queue; /* owned */
} dn__dispatch_handler;

static inline void dn__dispatch_invoke(int token, void *context)
{
        ((DN__BRIDGE notify_handler_t)((dn__dispatch_handler *)context)->block)(token);
}

static inline void dn__dispatch_free(void *context)
{
        dn__dispatch_handler *handler = (dn__dispatch_handler *)context;

        _Block_release(handler->block);
        dispatch_release(handler->queue);
        free(handler);
}

/* The captures of the block are released on the queue, after the work already queued there. */
static inline void dn__dispatch_destroy(void *context)
{
        dispatch_async_f(((dn__dispatch_handler *)context)->queue, context, dn__dispatch_free);
}

/* One function in a program or shared library, however many files include this: it identifies the
 * executor. */
__attribute__((weak, visibility("hidden"))) int dn__dispatch_enqueue(void *queue, dn_work_fn work,
                                                                     void *argument);

int dn__dispatch_enqueue(void *queue, dn_work_fn work, void *argument)
{
        dispatch_async_f((dispatch_queue_t)queue, argument, work);
        return 0;
}

static inline void dn__dispatch_retain(void *queue)
{
        dispatch_retain((dispatch_queue_t)queue);
}

static inline void dn__dispatch_release(void *queue)
{
        dispatch_release((dispatch_queue_t)queue);
}

/**
 * Registers a block that is submitted to a queue for each post.
 *
 * The block is copied, the queue retained, until the token is cancelled; the block is then
 * released on the queue. Blocks of one name on one serial queue run in registration order, if they
 * are registered by one program or shared library.
 *
 * @param out_token  set on success only, before the first call.
 *
 * Returns:  NOTIFY_STATUS_NULL_INPUT (10) if `queue`, `handler` or `out_token` is NULL;
 *           NOTIFY_STATUS_FAILED (1000000) without memory; otherwise that of
 *           dn_notify_register_callback().
 * Threads:  any. Returns after the bus has confirmed.
 * Apple:    fails an assertion if the name is NULL, where this returns
 *           NOTIFY_STATUS_INVALID_NAME.
 */
static inline uint32_t notify_register_dispatch(const char *name, int *out_token,
                                                dispatch_queue_t queue, notify_handler_t handler)
{
        dn_executor executor = { dn__dispatch_enqueue, queue, dn__dispatch_retain,
                                 dn__dispatch_release, { 0, 0 } };
        dn_token_handler token_handler = { dn__dispatch_invoke, NULL, dn__dispatch_destroy,
                                           { 0, 0 } };
        dn__dispatch_handler *context;

        if (!queue || !handler || !out_token)
                return 10; /* NOTIFY_STATUS_NULL_INPUT */
        context = (dn__dispatch_handler *)malloc(sizeof(*context));
        if (!context)
                return 1000000; /* NOTIFY_STATUS_FAILED */
        context->block = _Block_copy((DN__BRIDGE const void *)handler);
        context->queue = queue;
        dispatch_retain(queue);
        token_handler.context = context;
        return dn_notify_register_callback(name, &token_handler, &executor, out_token);
}

DN_END_DECLS

#endif
