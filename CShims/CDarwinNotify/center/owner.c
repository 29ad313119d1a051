/* Observers of the owner of a name on the bus. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/calls.h"
#include "calls/names.h"
#include "calls/owners.h"
#include "center/observe.h"
#include "delivery/delivery.h"
#include "delivery/payloads.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/reserved.h"

/* Observes the private name that stands for the owner. A state is reported once more whenever an
 * observer is added: each observer skips what it already knows. */
typedef struct owner_observer {
        dn_owner_handler handler;
        dn__owner *owner; /* NULL: there is no bus */
        bool has_begun;
        bool was_on_bus;                     /* as last reported, as the next one */
        char connection[DN__CALL_NAME_BYTES]; /* "": nobody */
        char name[];
} owner_observer;

static void report_owner(const dn_event *event, void *context)
{
        owner_observer *observer = context;
        const char *connection = event->object ? event->object : "";
        bool is_on_bus = event->object;

        if (observer->has_begun && observer->was_on_bus == is_on_bus &&
            strcmp(observer->connection, connection) == 0)
                return;
        observer->has_begun = true;
        observer->was_on_bus = is_on_bus;
        memcpy(observer->connection, connection, strlen(connection) + 1);
        observer->handler.invoke(
                &(dn_owner){
                        .center = event->center,
                        .name = observer->name,
                        .connection = *connection ? observer->connection : NULL,
                        .is_on_bus = is_on_bus,
                },
                observer->handler.context);
}

static void owner_observer_free(void *context)
{
        owner_observer *observer = context;

        if (observer->handler.destroy)
                observer->handler.destroy(observer->handler.context);
        dn__owner_release(observer->owner);
        free(observer);
}

static owner_observer *make_context(const dn_owner_handler *handler, const char *name)
{
        size_t n_bytes = strlen(name) + 1;
        owner_observer *context = calloc(1, sizeof(*context) + n_bytes);

        if (!context) {
                dn__host_release(handler->destroy, handler->context);
                return NULL;
        }
        context->handler = *handler;
        memcpy(context->name, name, n_bytes);
        return context;
}

/* Without a bus, nobody else reports the state. */
static int observe_absence(dn__hub *hub, const dn__name *topic_name, dn_observer *observer,
                           const dn_executor *executor, dn_observer **ret_observer)
{
        dn__payload *payload = dn__payload_new(&(dn__post){ .name = *topic_name });
        dn__topic *topic;
        int r;

        if (!payload)
                return -ENOMEM;
        r = dn__observe_name(hub, topic_name, observer, executor, ret_observer);
        dn__hub_lock(hub);
        topic = dn__topic_find(hub, topic_name);
        if (topic)
                (void)dn__payloads_hand_to(topic, payload);
        dn__hub_unlock_and_run(hub);
        dn__payload_unref(payload);
        return r;
}

/* Once it is linked, the observer, and its context with it, may end at any time. */
static int observe_owner(dn__hub *hub, const char *name, owner_observer *context,
                         dn_observer *observer, const dn_executor *executor,
                         dn_observer **ret_observer)
{
        char text[DN__CALL_NAME_BYTES + DN__NAME_OWNER_BYTES];
        dn__name topic_name = dn__name_of_owner(name, text);
        int r;

        if (!hub->calls)
                return observe_absence(hub, &topic_name, observer, executor, ret_observer);
        r = dn__owner_track(hub->calls, name, &topic_name, &context->owner);
        if (r == 0)
                r = dn__observe_name(hub, &topic_name, observer, executor, ret_observer);
        if (r == 0)
                dn__owners_report(hub->calls, name);
        return r;
}

int dn_center_observe_owner(dn_center *center, const char *name, const dn_owner_handler *handler,
                            const dn_executor *executor, dn_observer **ret_observer)
{
        DN__GATE();
        static const dn__observer_options options = { 0 };
        bool is_valid = center && handler && handler->invoke &&
                        dn__reserved_is_zero(handler->reserved) && dn__service_name_is_valid(name);
        dn__hub *hub DN__UNREFS_HUB = NULL;
        uint64_t deadline_us = 0;
        owner_observer *context;
        int r;

        if (!is_valid && handler)
                dn__host_release(handler->destroy, handler->context);
        if (!is_valid)
                return -EINVAL;
        context = make_context(handler, name);
        if (!context)
                return -ENOMEM;
        dn_observer *observer DN__UNREFS_OBSERVER = dn__observer_new(
                &(dn_handler){ .invoke = report_owner,
                               .context = context,
                               .destroy = owner_observer_free },
                &options);
        r = observer ? dn__hub_get(center, &hub) : -ENOMEM;
        if (r == 0 && !center->ops->has_calls)
                r = -EINVAL;
        if (r == 0)
                r = dn__carrier_start(hub->bus, &deadline_us);
        return r < 0 ? r : observe_owner(hub, name, context, observer, executor, ret_observer);
}
