/* Tokens: registrations of names. */
#include "notify/token.h"

#include <errno.h>
#include <darwinnotify/error.h>
#include <notify_private.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "center/center.h"
#include "center/hold.h"
#include "center/observe.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/reserved.h"

uint32_t dn__status_of(int error)
{
        switch (error) {
        case 0: return NOTIFY_STATUS_OK;
        case -EINVAL:
        case -ENAMETOOLONG: return NOTIFY_STATUS_INVALID_NAME;
        case -EACCES: return NOTIFY_STATUS_NOT_AUTHORIZED;
        case DN_NOT_CONNECTED: return NOTIFY_STATUS_SERVER_NOT_FOUND;
        default: return NOTIFY_STATUS_FAILED;
        }
}

uint32_t dn__status_of_center(int error)
{
        return error == -EINVAL ? NOTIFY_STATUS_FAILED : dn__status_of(error);
}

/* --- Options ------------------------------------------------------------------------------ */

static _Atomic bool is_disabled;

void notify_set_options(uint32_t opts)
{
        if (opts & (NOTIFY_OPT_DISABLE | NOTIFY_OPT_ENABLE))
                atomic_store(&is_disabled, opts & NOTIFY_OPT_DISABLE);
}

uint32_t dn__token_check_options(dn__reach reach)
{
        bool is_refused = reach != DN__REACH_PROCESS && atomic_load(&is_disabled);

        return is_refused ? NOTIFY_STATUS_OPT_DISABLE : NOTIFY_STATUS_OK;
}

/* --- Delivering --------------------------------------------------------------------------- */

static void invoke(const dn_event *event, void *context)
{
        dn__token_target *target = context;
        const dn_token_handler *handler = &target->handler;

        if (handler->invoke)
                handler->invoke(target->token, handler->context);
        else
                dn__pipe_write(target, event->n_posts);
}

/* A delivery may still be running. */
static void end_target(dn__token_target *target)
{
        if (target && !target->handler.invoke)
                dn__pipe_leave(target);
}

static void consume(void *context)
{
        dn__token_target *target = context;

        if (!target)
                return;
        end_target(target);
        dn__host_release(target->handler.destroy, target->handler.context);
        free(target);
}

/* --- Registering -------------------------------------------------------------------------- */

/* Consumes the target. Starts suspended, so nothing is delivered for a token that cannot be found
 * yet. */
static int observe(dn__topic *topic, dn__token_target *target, const dn_executor *executor,
                   dn_observer **ret_observer)
{
        static const dn__observer_options options = { .has_token = true };
        dn_handler handler = { .invoke = invoke, .context = target, .destroy = consume };
        dn_observer *observer DN__UNREFS_OBSERVER =
                dn__observer_new(&handler, &options);

        return observer ? dn__observe_topic(topic, observer, executor, NULL, ret_observer)
                        : -ENOMEM;
}

/* Consumes the hold on the topic and the target. */
static int add(dn__topic *topic, dn__token_target *target, const dn_executor *executor,
               int *ret_number)
{
        dn__registration registration = { .topic = topic, .target = target };
        dn__counter *counter = dn__topic_get_counter(topic);
        int r = counter ? 0 : -ENOMEM;

        if (r < 0)
                consume(target);
        else if (target)
                r = observe(topic, target, executor, &registration.observer);
        if (r == 0)
                r = dn__registry_add(registration, counter, ret_number);
        if (r == 0)
                return 0;
        dn_observer_cancel(registration.observer);
        (void)dn_observer_unref(registration.observer);
        dn__topic_give_back(topic);
        return r;
}

/* Holds the name. Fails if neither a bus nor a table was found. */
static int hold(const dn__name *name, const dn_executor *executor, dn__topic **ret_topic)
{
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r = dn__hub_get(dn_center_darwin(), &hub);

        if (r < 0)
                return r;
        r = dn__hub_use_executor(hub, executor);
        if (r == 0)
                r = dn__hold_name(hub, name, ret_topic);
        if (r == DN_NOT_CONNECTED && dn__bus_was_found(hub))
                r = 0;
        else if (r == DN_NOT_CONNECTED)
                dn__topic_give_back(*ret_topic);
        return r;
}

/* Nothing is delivered yet. Consumes the target. */
static uint32_t make_token(const char *name, dn__token_target *target, const dn_executor *executor,
                           int *ret_number)
{
        dn__name checked = { .reach = DN__REACH_BEYOND };
        int r = dn__name_init(&checked, name, DN__REACH_BEYOND);
        uint32_t status = dn__token_check_options(checked.reach);
        dn__topic *topic;

        if (status == NOTIFY_STATUS_OK)
                status = r < 0 ? dn__status_of(r)
                               : dn__status_of_center(hold(&checked, executor, &topic));
        if (status != NOTIFY_STATUS_OK) {
                consume(target);
                return status;
        }
        return dn__status_of(add(topic, target, executor, ret_number));
}

uint32_t dn__token_register(const char *name, dn__token_target *target, const dn_executor *executor,
                            int *out_token)
{
        int number;
        uint32_t status = make_token(name, target, executor, &number);

        if (status != NOTIFY_STATUS_OK)
                return status;
        status = dn__monitor_named_file(number, name);
        if (status != NOTIFY_STATUS_OK) {
                (void)notify_cancel(number);
                return status;
        }
        *out_token = number;
        /* Delivers posts since the registration. The token is there, so it cannot fail. */
        (void)notify_resume(number);
        return NOTIFY_STATUS_OK;
}

/* --- Tokens that are only checked ----------------------------------------------------------- */

uint32_t notify_register_plain(const char *name, int *out_token)
{
        DN__GATE();
        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        return dn__token_register(name, NULL, NULL, out_token);
}

uint32_t notify_register_check(const char *name, int *out_token)
{
        if (out_token)
                *out_token = NOTIFY_TOKEN_INVALID;
        return notify_register_plain(name, out_token);
}

/* --- Tokens that call a function of the host, or send its process a signal ------------------ */

uint32_t dn_notify_register_callback(const char *name, const dn_token_handler *handler,
                                     const dn_executor *executor, int *ret_token)
{
        DN__GATE();
        bool is_complete = ret_token && handler && handler->invoke &&
                           (!executor || executor->enqueue);
        dn__token_target *target = NULL;

        if (is_complete && dn__reserved_is_zero(handler->reserved))
                target = malloc(sizeof(*target));
        if (!target) {
                if (handler)
                        dn__host_release(handler->destroy, handler->context);
                return is_complete ? NOTIFY_STATUS_FAILED : NOTIFY_STATUS_NULL_INPUT;
        }
        *target = (dn__token_target){ .handler = *handler };
        return dn__token_register(name, target, executor, ret_token);
}

/* The library's threads block all signals but their own faults, so a thread of the host receives
 * it. */
static void send_signal(int token, void *number)
{
        (void)token;
        (void)kill(getpid(), (int)(intptr_t)number);
}

uint32_t notify_register_signal(const char *name, int sig, int *out_token)
{
        dn_token_handler handler = { .invoke = send_signal, .context = (void *)(intptr_t)sig };
        sigset_t set;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        /* Also refuses the signals that libc reserves for itself. */
        (void)sigemptyset(&set);
        if (sigaddset(&set, sig) < 0)
                return NOTIFY_STATUS_INVALID_SIGNAL;
        return dn_notify_register_callback(name, &handler, dn_executor_inline(), out_token);
}

/* --- The life of a token ------------------------------------------------------------------ */

uint32_t notify_cancel(int token)
{
        DN__GATE();
        dn__registration registration;

        if (!dn__registry_remove(token, &registration))
                return NOTIFY_STATUS_INVALID_TOKEN;
        (void)dn__file_watch_free(registration.watch);
        end_target(registration.target);
        dn_observer_cancel(registration.observer);
        (void)dn_observer_unref(registration.observer);
        dn__topic_give_back(registration.topic);
        return NOTIFY_STATUS_OK;
}

uint32_t notify_suspend(int token)
{
        DN__GATE();
        return dn__registry_call_observer(token, 0, dn__observer_suspend);
}

uint32_t notify_resume(int token)
{
        DN__GATE();
        return dn__registry_call_observer(token, 0, dn__observer_resume);
}

void dn__tokens_cancel(void)
{
        uint32_t index = 0;
        int token;

        while ((token = dn__registry_get_any(&index)))
                (void)notify_cancel(token);
}

bool dn__tokens_are_none(void)
{
        uint32_t index = 0;

        return dn__registry_get_any(&index) == 0;
}
