/* Ends all centers of a process. */
#include "center/center.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "delivery/delivery.h"
#include "delivery/executor.h"
#include "delivery/hub.h"
#include "delivery/queue.h"
#include "util/clock.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/thread.h"

/* --- Before the process exits: its posts are sent ------------------------------------------- */

/* Maximum time to wait for the bus at exit. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* The losses of one center are neither reported nor forgotten while another one has to wait. */
int dn_flush(uint64_t timeout_us)
{
        DN__GATE();
        uint64_t deadline_us = dn__clock_after_us(timeout_us);
        dn__hub *hub;
        int r, result = 0;

        DN__HUBS_EACH(hub) {
                r = dn__carrier_flush(hub->bus, deadline_us);
                result = r < 0 ? r : result;
        }
        if (result < 0)
                return result;
        DN__HUBS_EACH(hub) {
                r = dn__carrier_take_loss(hub->bus);
                result = r < 0 ? r : result;
        }
        return result;
}

static void at_exit(void)
{
        dn__hub *hub;

        dn__thread_at_exit();
        dn__host_end();
        (void)dn_flush(EXIT_TIMEOUT_US);
        DN__HUBS_EACH(hub)
                dn__carrier_remain_known(hub->bus);
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

/* Returns an observer that is not cancelled, with a reference for the caller, or NULL. Skips those
 * of tokens: a token that another thread is registering borrows from its observer. */
static dn_observer *find_observer(dn__hub *hub)
{
        DN__HUB_AUTO_LOCK(hub);

        DN__MAP_EACH(dn__topic, topic, &hub->topics, entry)
                DN__LIST_EACH(dn__post_queue, queue, &topic->queues, link)
                        DN__LIST_EACH(dn_observer, observer, &queue->observers, link)
                                if (!observer->is_cancelled && !observer->has_token)
                                        return dn_observer_ref(observer);
        return NULL;
}

void dn__centers_cancel_observers(void)
{
        dn_observer *observer;
        dn__hub *hub;

        DN__HUBS_EACH(hub) {
                while ((observer = find_observer(hub))) {
                        dn_observer_cancel(observer);
                        (void)dn_observer_unref(observer);
                }
                dn__bus_cancel_calls(hub);
        }
}

static bool is_idle(dn__hub *hub)
{
        DN__HUB_AUTO_LOCK(hub);

        return atomic_load(&hub->n_observers) == 0 && hub->n_runs == 0 && !dn__bus_has_calls(hub);
}

bool dn__centers_are_idle(void)
{
        bool are_idle = true;
        dn__hub *hub;

        DN__HUBS_EACH(hub)
                are_idle = is_idle(hub) && are_idle;
        return are_idle;
}

/* --- Hubs ----------------------------------------------------------------------------------- */

void dn__centers_close(uint64_t deadline_us, dn__link *ret_hubs)
{
        dn__hub *hub;

        dn__list_init(ret_hubs);
        DN__HUBS_EACH(hub) {
                const dn__center_ops *ops = hub->center->ops;

                (void)dn__carrier_flush(hub->bus, deadline_us);
                dn__carrier_remain_known(hub->bus);
                dn__hub_ref(hub); /* until dn__centers_free() */
                dn__hub_detach(hub);
                dn__list_append(ret_hubs, &hub->link);
                ops->close(hub);
        }
        dn__delivery_thread_close();
}

static void free_counters(dn__hub *hub)
{
        DN__HUB_AUTO_LOCK(hub);

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
                (void)dn__region_close(atomic_exchange(&hub->member.region, NULL));
                dn__hub_unref(hub);
        }
        dn__hub_free_list();
}
