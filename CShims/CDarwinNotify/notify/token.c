/* Registering a name for a token. */
#include "notify/token.h"

#include <errno.h>
#include <notify.h>

#include "bus/name.h"
#include "center/engine.h"
#include "center/observer.h"
#include "notify/options.h"
#include "notify/registry.h"

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

/* What a pipe holds. More at a time come only from a count in shared memory that was tampered with,
 * which must not occupy the thread. */
#define MOST_TIMES 16384

/* --- Delivering --------------------------------------------------------------------------- */

static void invoke(const dn_event *event, void *context)
{
        dn__delivery *delivery = context;
        uint64_t n_times = delivery->ops->is_counted ? event->n_posts : 1;

        if (n_times > MOST_TIMES)
                n_times = MOST_TIMES;
        while (n_times > 0 && delivery->ops->deliver(delivery))
                n_times--;
}

static void destroy(void *context)
{
        dn__delivery *delivery = context;

        if (delivery)
                delivery->ops->destroy(delivery);
}

/* --- Registering -------------------------------------------------------------------------- */

/* Holds the name. Where no bus was ever found, the caller has to know. */
static int hold(dn__engine *engine, const char *name, size_t n_name_bytes,
                dn__topic **ret_topic)
{
        int r;

        r = dn__engine_hold(engine, name, n_name_bytes, ret_topic);
        if (r != -ENOTCONN)
                return r;
        if (dn__service_was_connected(engine->service))
                return 0;
        dn__topic_give_back(*ret_topic);
        return r;
}

/* Suspended, so that it does not deliver for a token that cannot be found yet. */
static int observe(dn__topic *topic, dn__delivery *delivery, const dn_executor *executor,
                   dn_observer **ret_observer)
{
        dn_handler handler = { invoke, delivery, destroy };
        dn__executor *shared;
        int r;

        r = dn__executor_new(executor, topic->engine->service, &shared);
        if (r < 0)
                return r;
        r = dn__topic_observe(topic, NULL, handler, shared, true, ret_observer);
        (void)dn__executor_unref(shared);
        return r;
}

/* Consumes the hold of the topic, the delivery and the executor. */
static int add(dn__topic *topic, dn__delivery *delivery, const dn_executor *executor,
               int *ret_number)
{
        dn__registration registration = { .topic = topic, .delivery = delivery };
        dn__counter *counter = dn__topic_get_counter(topic);
        int r = counter ? 0 : -ENOMEM;

        if (r == 0 && delivery)
                r = observe(topic, delivery, executor, &registration.observer);
        else
                dn__executor_consume(executor);
        if (r < 0)
                destroy(delivery);
        else
                r = dn__registry_add(registration, counter, ret_number);
        if (r == 0)
                return 0;
        dn_observer_cancel(registration.observer);
        (void)dn_observer_unref(registration.observer);
        dn__topic_give_back(topic);
        return r;
}

static int check_name(const char *name, size_t *ret_n_bytes)
{
        return dn__center_check_name(dn_center_darwin(), name, ret_n_bytes);
}

static int hold_by_name(const char *name, dn__topic **ret_topic)
{
        dn__engine *engine;
        size_t n_bytes;
        int r;

        r = check_name(name, &n_bytes);
        if (r < 0)
                return r;
        engine = dn__engine_get(dn_center_darwin());
        if (!engine)
                return -ENOMEM;
        r = hold(engine, name, n_bytes, ret_topic);
        dn__engine_unref(engine);
        return r;
}

uint32_t dn__token_register(const char *name, dn__delivery *delivery, const dn_executor *executor,
                            int *ret_number)
{
        uint32_t status = dn__options_check(name);
        dn__topic *topic;

        if (status == NOTIFY_STATUS_OK)
                status = dn__status_of(hold_by_name(name, &topic));
        if (status != NOTIFY_STATUS_OK) {
                dn__executor_consume(executor);
                destroy(delivery);
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
        dn_observer *observer;

        if (!dn__registry_get_observer(token, &observer))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (observer)
                dn__observer_resume(observer);
        (void)dn_observer_unref(observer);
        return NOTIFY_STATUS_OK;
}
