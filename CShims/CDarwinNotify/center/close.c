/* Closes all centers of a process, so that nothing of them remains. */
#include "center/close.h"

#include <errno.h>
#include <stdlib.h>

#include "center/carriers.h"
#include "center/counter.h"
#include "center/delivery-thread.h"
#include "center/hub.h"
#include "center/observer.h"

/* --- Observers ------------------------------------------------------------------------------ */

static dn_observer *find_in_inbox(dn__inbox *inbox) DN__HUB_LOCKED
{
        for (dn__link *link = inbox->observers.next; link != &inbox->observers; link = link->next) {
                dn_observer *observer = DN__CONTAINER(link, dn_observer, link);

                if (!observer->is_cancelled)
                        return observer;
        }
        return NULL;
}

static dn_observer *find_in_topic(dn__topic *topic) DN__HUB_LOCKED
{
        dn_observer *found = NULL;

        for (dn__link *link = topic->inboxes.next; !found && link != &topic->inboxes;
             link = link->next)
                found = find_in_inbox(DN__CONTAINER(link, dn__inbox, link));
        return found;
}

static dn_observer *find_observer(dn__hub *hub) DN__HUB_LOCKED
{
        dn_observer *found = NULL;

        for (dn__map_entry *entry = dn__map_next(&hub->topics, NULL); !found && entry;
             entry = dn__map_next(&hub->topics, entry))
                found = find_in_topic(DN__CONTAINER(entry, dn__topic, entry));
        return found;
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
        return hub->n_observers == 0 && hub->n_works == 0 ? 0 : -EBUSY;
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

        (void)dn__carriers_flush(hub, closing->deadline_us);
        dn__carriers_linger(hub);
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
