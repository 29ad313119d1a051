/* Delivery by a signal to the process. */
#include <notify.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "notify/token.h"
#include "util/call.h"

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

static const dn__delivery_ops ops = {
        .kind = "signal",
        .deliver = signal_deliver,
        .destroy = signal_destroy,
};

/* Excludes the signals that libc reserves for itself. */
static bool is_signal(int number)
{
        sigset_t set;

        (void)sigemptyset(&set);
        return sigaddset(&set, number) == 0;
}

uint32_t notify_register_signal(const char *name, int sig, int *out_token)
{
        DN__CALL();
        dn_executor executor = dn_executor_inline();
        by_signal *signal;
        uint32_t status;
        int token;

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
        status = dn__token_register(name, &signal->delivery, &executor, &token);
        if (status == NOTIFY_STATUS_OK) {
                *out_token = token;
                dn__token_start(token);
        }
        return status;
}
