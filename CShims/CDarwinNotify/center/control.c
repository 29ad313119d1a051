/* Suspends, resumes and cancels observers. */
#include "center/control.h"

#include "center/delivery.h"
#include "util/call.h"

/* Returns NULL for an observer of the parent process, which is already silent here. */
static dn__hub *hub_of(const dn_observer *observer)
{
        dn__hub *hub = observer ? observer->inbox->topic->hub : NULL;

        return hub && dn__hub_is_current(hub) ? hub : NULL;
}

/* Delivers everything it has not seen, or else the last post again, as one delivery. */
static void deliver_once(dn_observer *observer, dn__batch *batch) DN__HUB_LOCKED
{
        dn__inbox *inbox = observer->inbox;

        observer->seen = inbox->topic->sequence - 1;
        if (!observer->n_suspends)
                dn__inbox_push(inbox, observer->seen, 1, batch);
}

void dn__observer_suspend(dn_observer *observer)
{
        DN__HUB_HOLD(observer->inbox->topic->hub);

        observer->n_suspends++;
}

void dn__observer_resume(dn_observer *observer)
{
        dn__hub *hub = observer->inbox->topic->hub;
        dn__batch batch = { 0 };

        dn__hub_lock(hub);
        if (observer->n_suspends && --observer->n_suspends == 0 && !observer->is_cancelled &&
            observer->seen < observer->inbox->topic->sequence)
                deliver_once(observer, &batch);
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
}

void dn__observer_tell(dn_observer *observer)
{
        dn__hub *hub = observer->inbox->topic->hub;
        dn__batch batch = { 0 };

        dn__hub_lock(hub);
        /* If something is waiting for it, that is delivered after this call anyway. */
        if (!observer->is_cancelled && observer->seen == observer->inbox->topic->sequence)
                deliver_once(observer, &batch);
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
}

void dn_observer_cancel(dn_observer *observer)
{
        DN__CALL();
        dn__hub *hub = hub_of(observer);
        dn__unlinked unlinked = { 0 };

        if (!hub)
                return;
        dn__hub_lock(hub);
        dn__observer_mark_cancelled(observer, &unlinked);
        dn__hub_unlock(hub);
        dn__unlinked_dispose(&unlinked);
}

void dn_observer_cancel_wait(dn_observer *observer)
{
        DN__CALL();
        dn__hub *hub = hub_of(observer);

        if (!hub)
                return;
        dn_observer_cancel(observer);
        dn__hub_lock(hub);
        while (observer->n_running > dn__delivery_count_own(observer))
                dn__hub_wait(hub);
        dn__hub_unlock(hub);
}
