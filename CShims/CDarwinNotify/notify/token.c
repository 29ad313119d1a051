/* Registration of tokens for names. */
#include "notify/token.h"

#include <errno.h>
#include <notify.h>

#include "center/carriers.h"
#include "center/control.h"
#include "center/hold.h"
#include "center/observe.h"
#include "notify/options.h"
#include "notify/registry.h"
#include "util/call.h"

uint32_t dn__status_of(int error)
{
        switch (error) {
        case 0:
                return NOTIFY_STATUS_OK;
        case -EINVAL:
        case -ENAMETOOLONG:
                return NOTIFY_STATUS_INVALID_NAME;
        case -EACCES:
                return NOTIFY_STATUS_NOT_AUTHORIZED;
        case -ENOTCONN:
                return NOTIFY_STATUS_SERVER_NOT_FOUND;
        default:
                return NOTIFY_STATUS_FAILED;
        }
}

/* The capacity of a pipe. A larger count can only come from tampered shared memory and must not
 * keep the thread busy. */
#define MAX_TIMES 16384

/* --- Delivering --------------------------------------------------------------------------- */

static void invoke(const dn_event *event, void *context)
{
        dn__delivery *delivery = context;
        uint64_t n_times = delivery->ops->is_counted ? event->n_posts : 1;

        if (n_times > MAX_TIMES)
                n_times = MAX_TIMES;
        while (n_times > 0 && delivery->ops->deliver(delivery))
                n_times--;
}

static void consume(void *context)
{
        dn__delivery *delivery = context;

        if (delivery)
                delivery->ops->destroy(delivery);
}

/* --- Registering -------------------------------------------------------------------------- */

/* Holds the name. Fails if no bus was ever found. */
static int hold(dn__hub *hub, const dn__name *name, dn__topic **ret_topic)
{
        int r;

        r = dn__hold_name(hub, name, ret_topic);
        if (r != -ENOTCONN)
                return r;
        if (dn__carriers_get_counts(hub).n_connects > 0)
                return 0;
        dn__topic_give_back(*ret_topic);
        return r;
}

/* Starts suspended, so nothing is delivered for a token that cannot be found yet. */
static int observe(dn__topic *topic, dn__delivery *delivery, const dn_executor *executor,
                   dn_observer **ret_observer)
{
        dn__observer_spec spec = {
                .handler = { invoke, delivery, consume },
                .is_suspended = true,
        };
        int r;

        r = dn__hub_make_executor(topic->hub, executor, &spec.executor);
        if (r < 0)
                return r;
        r = dn__observe_topic(topic, &spec, ret_observer);
        (void)dn__executor_unref(spec.executor);
        return r;
}

/* Consumes the hold on the topic and the delivery. */
static int add(dn__topic *topic, dn__delivery *delivery, const dn_executor *executor,
               int *ret_number)
{
        dn__registration registration = { .topic = topic, .delivery = delivery };
        dn__counter *counter = dn__topic_get_counter(topic);
        int r = counter ? 0 : -ENOMEM;

        if (r == 0 && delivery)
                r = observe(topic, delivery, executor, &registration.observer);
        if (r < 0)
                consume(delivery);
        else
                r = dn__registry_add(registration, counter, ret_number);
        if (r == 0)
                return 0;
        dn_observer_cancel(registration.observer);
        (void)dn_observer_unref(registration.observer);
        dn__topic_give_back(topic);
        return r;
}

static int hold_by_name(const dn__name *name, dn__topic **ret_topic)
{
        dn__hub *hub = dn__hub_get(dn_center_darwin());
        int r;

        if (!hub)
                return -ENOMEM;
        r = hold(hub, name, ret_topic);
        dn__hub_unref(hub);
        return r;
}

uint32_t dn__token_register(const char *name, dn__delivery *delivery, const dn_executor *executor,
                            int *ret_number)
{
        dn__name checked = { .reach = DN__REACH_BEYOND };
        int r = dn__name_init(&checked, name, DN__REACH_BEYOND);
        uint32_t status = dn__options_check(checked.reach);
        dn__topic *topic;

        if (status == NOTIFY_STATUS_OK)
                status = dn__status_of(r < 0 ? r : hold_by_name(&checked, &topic));
        if (status != NOTIFY_STATUS_OK) {
                consume(delivery);
                return status;
        }
        return dn__status_of(add(topic, delivery, executor, ret_number));
}

void dn__token_start(int number)
{
        (void)notify_resume(number);
}

/* --- The life of a token ------------------------------------------------------------------ */

bool notify_is_valid_token(int token)
{
        return dn__registry_find(token) != NULL;
}

uint32_t notify_cancel(int token)
{
        DN__CALL();
        dn__registration registration;

        if (!dn__registry_remove(token, &registration))
                return NOTIFY_STATUS_INVALID_TOKEN;
        (void)dn__file_watch_free(registration.watch);
        if (registration.delivery && registration.delivery->ops->cancelled)
                registration.delivery->ops->cancelled(registration.delivery);
        dn_observer_cancel(registration.observer);
        (void)dn_observer_unref(registration.observer);
        dn__topic_give_back(registration.topic);
        return NOTIFY_STATUS_OK;
}

uint32_t notify_suspend(int token)
{
        DN__CALL();
        dn_observer *observer;

        if (!dn__registry_get_observer(token, &observer))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (observer)
                dn__observer_suspend(observer);
        (void)dn_observer_unref(observer);
        return NOTIFY_STATUS_OK;
}

uint32_t notify_resume(int token)
{
        DN__CALL();
        dn_observer *observer;

        if (!dn__registry_get_observer(token, &observer))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (observer)
                dn__observer_resume(observer);
        (void)dn_observer_unref(observer);
        return NOTIFY_STATUS_OK;
}
