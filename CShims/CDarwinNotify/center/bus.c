/* Shared parts of the centers that use a bus. */
#include "center/center.h"

#include <errno.h>
#include <stdlib.h>

#include "center/observe.h"
#include "center/table.h"
#include "delivery/delivery.h"
#include "delivery/payloads.h"
#include "delivery/topic.h"
#include "post/address.h"
#include "util/clock.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/reserved.h"

/* --- The timer: idle topics ----------------------------------------------------------------- */

static bool prepare_timer(dn__source *source, dn__wait *wait)
{
        wait->until_us = atomic_load(&DN__CONTAINER(source, dn__hub, timer)->sweep_us);
        return true;
}

static void dispatch_timer(dn__source *source)
{
        dn__topic_sweep(DN__CONTAINER(source, dn__hub, timer), dn__clock_now_us());
}

static const dn__source_ops timer_ops = { prepare_timer, dispatch_timer };

/* --- Opening and closing -------------------------------------------------------------------- */

void dn__bus_carrier_closed(void *context)
{
        dn__hub *hub = context;

        if (atomic_fetch_sub(&hub->n_open_carriers, 1) == 1)
                (void)dn__loop_close(hub->loop);
}

/* The last one to be closed may destroy the hub. */
static void close_carriers(dn__hub *hub)
{
        dn__carrier_close(hub->direct);
        dn__carrier_close(hub->bus);
        dn__bus_carrier_closed(hub);
}

static void loop_closed(void *context)
{
        dn__hub *hub = context;

        dn__carrier_free(hub->direct);
        dn__carrier_free(hub->bus);
        dn__bus_free_calls(hub);
        dn__hub_unref(hub);
}

int dn__bus_open(dn__hub *hub)
{
        dn__loop_options options = {
                .thread_name = "dn-service",
                .polls = true,
                .closed = loop_closed,
                .context = hub,
        };
        dn__address address DN__CLEANUP(dn__address_deinit) = { 0 };
        int r;

        dn__flush_at_exit();
        r = dn__address_resolve(hub->center->bus, &address);
        if (r < 0)
                return r;
        r = dn__loop_new(&options, &hub->loop);
        if (r < 0)
                return r;
        atomic_init(&hub->n_open_carriers, 1);
        r = hub->center->ops->add_carriers(hub, &address);
        if (r < 0) {
                dn__hub_ref(hub); /* released by `closed` */
                close_carriers(hub);
                return r;
        }
        hub->timer.ops = &timer_ops;
        dn__loop_add(hub->loop, &hub->timer);
        return 0;
}

void dn__bus_close(dn__hub *hub)
{
        dn__table_end(hub);
        dn__topic_sweep(hub, DN__NEVER);
        dn__payloads_forget(hub);
        close_carriers(hub);
}

/* --- Observers of the bus ------------------------------------------------------------------- */

/* They observe a name that nobody can post. A call by itself says nothing about the bus: each
 * compares how many changes it has reported with how many there were; the parity of that number is
 * the state of the bus. So it reports each change once, in order, starting with its first call. */
#define NOT_BEGUN UINT64_MAX

typedef struct bus_observer {
        dn__hub *hub; /* borrowed: it outlives its observers */
        dn_bus_handler handler;
        uint64_t n_reported; /* changes, the first being the first connection; or NOT_BEGUN */
} bus_observer;

void dn__bus_connection_changed(void *context)
{
        dn__hub *hub = context;
        dn__topic *topic;

        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &dn__name_bus);
        if (topic)
                (void)dn__topic_hand_one(topic, false);
        dn__hub_unlock_and_run(hub);
}

static void report(const dn_event *event, void *context)
{
        bus_observer *observer = context;
        dn__carrier_status status = dn__carrier_get_status(observer->hub->bus);
        uint64_t n_changes = status.n_connects + status.n_losses;
        uint64_t n_new = n_changes - observer->n_reported;

        if (n_new == 0)
                return;
        if (observer->n_reported == NOT_BEGUN)
                observer->n_reported = n_changes;
        else
                observer->n_reported += event->n_posts < n_new ? event->n_posts : n_new;
        observer->handler.invoke(event->center, observer->n_reported % 2,
                                 observer->handler.context);
}

static void bus_observer_free(void *context)
{
        const bus_observer *observer = context;

        if (observer->handler.destroy)
                observer->handler.destroy(observer->handler.context);
        free(context);
}

int dn_center_observe_bus(dn_center *center, const dn_bus_handler *handler,
                          const dn_executor *executor, dn_observer **ret_observer)
{
        DN__GATE();
        static const dn__observer_options options = { 0 };
        bus_observer *context;
        dn__hub *hub DN__UNREFS_HUB = NULL;
        uint64_t deadline_us = 0;
        int r;

        if (!handler)
                return -EINVAL;
        context = malloc(sizeof(*context));
        if (!context) {
                dn__host_release(handler->destroy, handler->context);
                return -ENOMEM;
        }
        *context = (bus_observer){ .handler = *handler, .n_reported = NOT_BEGUN };
        dn_observer *observer DN__UNREFS_OBSERVER = dn__observer_new(
                &(dn_handler){ .invoke = report, .context = context, .destroy = bus_observer_free },
                &options);
        if (!center || !center->ops->has_executors || !handler->invoke ||
            !dn__reserved_is_zero(handler->reserved))
                return -EINVAL;
        r = observer ? dn__hub_get(center, &hub) : -ENOMEM;
        if (r == 0)
                r = dn__carrier_start(hub->bus, &deadline_us);
        if (r < 0)
                return r;
        context->hub = hub;
        r = dn__observe_name(hub, &dn__name_bus, observer, executor, ret_observer);
        /* The other observers see that nothing has changed. */
        if (r == 0)
                dn__bus_connection_changed(hub);
        return r;
}
