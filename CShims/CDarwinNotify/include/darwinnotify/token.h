/* Tokens of <notify.h> with a plain C callback. */
#ifndef DARWINNOTIFY_TOKEN_H
#define DARWINNOTIFY_TOKEN_H

#include "base.h"
#include "executor.h"

DN_BEGIN_DECLS

/**
 * A callback, its context, and a hook that destroys the context. The contract is that of dn_handler
 * (observer.h), with notify_cancel() instead of dn_observer_cancel().
 */
typedef struct dn_token_handler {
        void (*invoke)(int token, void *context);
        void *context;
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_token_handler;

/**
 * Registers a callback for a name.
 *
 * It is called once for each post. If more than 16 posts are waiting, the rest are merged into one
 * call, and so are all posts that arrive while the token is suspended.
 *
 * @param name       copied.
 * @param handler    `invoke` must be set; its context is consumed, also on failure.
 * @param executor   borrowed during the call, then retained; NULL stands for that of the
 *                   Darwin center, see dn_center_set_executor().
 * @param ret_token  set on success only, before the first call.
 *
 * Returns:  a status of <notify.h>: NOTIFY_STATUS_OK; _NULL_INPUT if `ret_token`,
 *           `handler->invoke` or `executor->enqueue` is NULL; _INVALID_NAME; _NOT_AUTHORIZED;
 *           _OPT_DISABLE; _SERVER_NOT_FOUND; _FAILED.
 * Threads:  any. Returns after the bus has confirmed.
 * Apple:    notify_register_dispatch() without a block and without a queue.
 */
DN_EXPORT uint32_t dn_notify_register_callback(const char *name, const dn_token_handler *handler,
                                               const dn_executor *executor, int *ret_token);

DN_END_DECLS

#endif
