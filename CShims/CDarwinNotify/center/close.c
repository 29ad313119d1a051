/* Closes all centers of a process, so that nothing of them remains. */
#include "center/close.h"

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

void dn__centers_cancel_observers(void)
{
        dn__hub *hub;
        uint64_t id = 0;

        while ((hub = dn__hub_next(id))) {
                id = hub->id;
                while (cancel_one(hub))
                        continue;
                dn__center_release(hub->center);
        }
}

static bool is_idle(dn__hub *hub)
{
        DN__HUB_HOLD(hub);

        return hub->n_observers == 0 && hub->n_works == 0;
}

bool dn__centers_are_idle(void)
{
        bool are_idle = true;
        dn__hub *hub;
        uint64_t id = 0;

        while (are_idle && (hub = dn__hub_next(id))) {
                id = hub->id;
                are_idle = is_idle(hub);
                dn__center_release(hub->center);
        }
        return are_idle;
}

/* --- Hubs ----------------------------------------------------------------------------------- */

static void close_hub(dn__hub *hub, uint64_t deadline_us, dn__link *hubs)
{
        dn_center *center = hub->center;

        (void)dn__carriers_flush(hub, deadline_us);
        dn__carriers_linger(hub);
        dn__hub_ref(hub); /* until dn__centers_free() */
        dn__hub_detach(hub);
        dn__list_append(hubs, &hub->link);
        center->ops->close(hub);
        dn__center_release(center);
}

void dn__centers_close(uint64_t deadline_us, dn__link *ret_hubs)
{
        dn__hub *hub;

        dn__list_init(ret_hubs);
        while ((hub = dn__hub_next(0)))
                close_hub(hub, deadline_us, ret_hubs);
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
