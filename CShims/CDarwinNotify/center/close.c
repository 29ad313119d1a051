/* Ends all centers of a process: before it exits, or so that nothing of them remains. */
#include "center/center.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "bus/dbus.h"
#include "calls/calls.h"
#include "delivery/delivery.h"
#include "delivery/executor.h"
#include "delivery/hub.h"
#include "delivery/queue.h"
#include "util/call.h"
#include "util/clock.h"

/* --- Before the process exits: its posts are sent ------------------------------------------- */

/* Maximum time at exit for running handlers, and then for the bus. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

static int flush(dn__hub *hub, void *deadline_us)
{
        return dn__dbus_flush(hub->bus, *(uint64_t *)deadline_us);
}

/* Posts are also lost if there was no bus to connect to. */
static int take_loss(dn__hub *hub, void *context)
{
        int r = dn__dbus_take_loss(hub->bus);

        (void)context;
        return atomic_exchange(&hub->has_lost, false) && r == 0 ? -ENOTCONN : r;
}

/* The losses of one center are neither reported nor forgotten while another one has to wait. */
int dn_flush(uint64_t timeout_us)
{
        DN__CALL();
        uint64_t deadline_us = dn__clock_after_us(timeout_us);
        int r = dn__hubs_each(flush, &deadline_us);

        return r < 0 ? r : dn__hubs_each(take_loss, NULL);
}

static int end_deliveries(dn__hub *hub, void *deadline_us)
{
        dn__delivery_end(hub, *(uint64_t *)deadline_us);
        return 0;
}

static int end_hub(dn__hub *hub, void *context)
{
        (void)context;
        dn__dbus_remain_known(hub->bus);
        return 0;
}

static void at_exit(void)
{
        uint64_t deadline_us = dn__clock_after_us(EXIT_TIMEOUT_US);

        (void)dn__hubs_each(end_deliveries, &deadline_us);
        (void)dn_flush(EXIT_TIMEOUT_US);
        (void)dn__hubs_each(end_hub, NULL);
}

static void register_at_exit(void)
{
        /* If this fails, there is no memory for the host's own handlers either. */
        (void)atexit(at_exit);
}

void dn__flush_at_exit(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, register_at_exit);
}

/* --- Observers ------------------------------------------------------------------------------ */

static dn_observer *find_observer(dn__hub *hub) DN__HUB_LOCKED
{
        DN__MAP_EACH(dn__topic, topic, &hub->topics, entry)
                DN__LIST_EACH(dn__post_queue, queue, &topic->queues, link)
                        DN__LIST_EACH(dn_observer, observer, &queue->observers, link)
                                if (!observer->is_cancelled)
                                        return observer;
        return NULL;
}

static bool cancel_one(dn__hub *hub)
{
        dn__unlinked unlinked = { 0 };
        dn_observer *observer;

        dn__hub_lock(hub);
        observer = find_observer(hub);
        if (observer)
                dn__observer_mark_cancelled(observer, &unlinked);
        dn__hub_unlock(hub);
        dn__unlinked_dispose(&unlinked);
        return observer != NULL;
}

static int cancel_all(dn__hub *hub, void *context)
{
        (void)context;
        while (cancel_one(hub))
                continue;
        dn__calls_cancel(hub->calls);
        return 0;
}

void dn__centers_cancel_observers(void)
{
        (void)dn__hubs_each(cancel_all, NULL);
}

static int check_idle(dn__hub *hub, void *context)
{
        DN__HUB_HOLD(hub);

        (void)context;
        return hub->n_observers == 0 && hub->n_runs == 0 && dn__calls_are_idle(hub->calls)
                       ? 0
                       : -EBUSY;
}

bool dn__centers_are_idle(void)
{
        return dn__hubs_each(check_idle, NULL) == 0;
}

/* --- Hubs ----------------------------------------------------------------------------------- */

/* The input and output of close_hub(). */
typedef struct closing {
        uint64_t deadline_us;
        dn__link *hubs; /* those closed */
} closing;

static int close_hub(dn__hub *hub, void *context)
{
        closing *closing = context;
        dn_center *center = hub->center;

        (void)dn__dbus_flush(hub->bus, closing->deadline_us);
        dn__dbus_remain_known(hub->bus);
        dn__hub_ref(hub); /* until dn__centers_free() */
        dn__hub_detach(hub);
        dn__list_append(closing->hubs, &hub->link);
        center->ops->close(hub);
        return 0;
}

void dn__centers_close(uint64_t deadline_us, dn__link *ret_hubs)
{
        closing closing = { .deadline_us = deadline_us, .hubs = ret_hubs };

        dn__list_init(ret_hubs);
        (void)dn__hubs_each(close_hub, &closing);
        dn__delivery_thread_close();
}

static void free_counters(dn__hub *hub)
{
        DN__HUB_HOLD(hub);

        while (hub->free_counters) {
                dn__counter *counter = hub->free_counters;

                hub->free_counters = counter->next_free;
                free(counter);
        }
}

void dn__centers_free(dn__link *hubs)
{
        while (!dn__list_is_empty(hubs)) {
                dn__hub *hub = DN__CONTAINER(hubs->next, dn__hub, link);

                dn__list_remove(&hub->link);
                free_counters(hub);
                dn__hub_leave_table(hub);
                dn__hub_unref(hub);
        }
        dn__hub_free_list();
}
