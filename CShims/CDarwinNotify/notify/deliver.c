/* Deliveries that act at once: they call a function of the host, or send its process a signal. */
#include <notify.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "darwinnotify/token.h"
#include "notify/token.h"
#include "util/call.h"

/* --- A function ------------------------------------------------------------------------------ */

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

uint32_t dn_notify_register_callback(const char *name, dn_token_handler handler,
                                     const dn_executor *executor, int *out_token)
{
        static const dn__delivery_ops ops = {
                .deliver = callback_deliver,
                .destroy = callback_destroy,
        };
        DN__CALL();
        bool is_valid = out_token && handler.invoke && (!executor || executor->enqueue);
        callback *callback = is_valid ? malloc(sizeof(*callback)) : NULL;

        if (!callback) {
                handler_destroy(handler);
                return is_valid ? NOTIFY_STATUS_FAILED : NOTIFY_STATUS_NULL_INPUT;
        }
        *callback = (struct callback){ { &ops, 0 }, handler };
        return dn__token_register(name, &callback->delivery, executor, out_token);
}

/* --- A signal -------------------------------------------------------------------------------- */

typedef struct by_signal {
        dn__delivery delivery;
        int number;
} by_signal;

/* The library's threads block all signals but their own faults, so a thread of the host receives
 * it. */
static bool signal_deliver(dn__delivery *delivery)
{
        (void)kill(getpid(), ((by_signal *)delivery)->number);
        return true;
}

static void signal_destroy(dn__delivery *delivery)
{
        free(delivery);
}

/* Excludes the signals that libc reserves for itself. */
static bool is_signal(int number)
{
        sigset_t set;

        (void)sigemptyset(&set);
        return sigaddset(&set, number) == 0;
}

uint32_t notify_register_signal(const char *name, int sig, int *out_token)
{
        static const dn__delivery_ops ops = {
                .deliver = signal_deliver,
                .destroy = signal_destroy,
        };
        DN__CALL();
        dn_executor executor = dn_executor_inline();
        by_signal *signal;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        if (!is_signal(sig))
                return NOTIFY_STATUS_INVALID_SIGNAL;
        signal = malloc(sizeof(*signal));
        if (!signal)
                return NOTIFY_STATUS_FAILED;
        *signal = (by_signal){ { &ops, 0 }, sig };
        return dn__token_register(name, &signal->delivery, &executor, out_token);
}
