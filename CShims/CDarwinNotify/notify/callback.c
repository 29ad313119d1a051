/* Delivery to a function of the host. */
#include <notify.h>
#include <stdlib.h>

#include "darwinnotify/token.h"
#include "notify/token.h"
#include "util/call.h"

typedef struct callback {
        dn__delivery delivery;
        dn_token_handler handler;
} callback;

static bool callback_deliver(dn__delivery *delivery)
{
        const callback *callback = (struct callback *)delivery;

        callback->handler.invoke(delivery->token, callback->handler.context);
        return true;
}

static void handler_destroy(dn_token_handler handler)
{
        if (handler.destroy)
                handler.destroy(handler.context);
}

static void callback_destroy(dn__delivery *delivery)
{
        handler_destroy(((struct callback *)delivery)->handler);
        free(delivery);
}

static const dn__delivery_ops ops = {
        .kind = "callback",
        .deliver = callback_deliver,
        .destroy = callback_destroy,
};

uint32_t dn_notify_register_callback(const char *name, dn_token_handler handler,
                                     const dn_executor *executor, int *out_token)
{
        DN__CALL();
        callback *callback = NULL;
        uint32_t status;
        int token;

        if (!out_token || !handler.invoke || (executor && !executor->enqueue))
                status = NOTIFY_STATUS_NULL_INPUT;
        else if (!(callback = malloc(sizeof(*callback))))
                status = NOTIFY_STATUS_FAILED;
        else
                status = NOTIFY_STATUS_OK;
        if (status != NOTIFY_STATUS_OK) {
                handler_destroy(handler);
                return status;
        }
        *callback = (struct callback){ { &ops, 0 }, handler };
        status = dn__token_register(name, &callback->delivery, executor, &token);
        if (status == NOTIFY_STATUS_OK) {
                *out_token = token;
                dn__token_start(token);
        }
        return status;
}
