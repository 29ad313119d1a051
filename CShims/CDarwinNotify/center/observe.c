/* Registers observers. */
#include "center/observe.h"

#include <assert.h>
#include <errno.h>

#include "center/delivery.h"
#include "center/fanout.h"
#include "center/hold.h"
#include "center/prefix.h"
#include "center/works.h"
#include "util/call.h"

/* Finds or creates the inbox of an executor. The caller gets a reference. */
static int get_inbox(dn__topic *topic, dn__executor *executor, dn__inbox **ret_inbox)
        DN__HUB_LOCKED
{
        dn__inbox *inbox = dn__inbox_find(topic, executor);

        if (!inbox)
                return dn__inbox_new(topic, executor, ret_inbox);
        dn__inbox_ref(inbox);
        *ret_inbox = inbox;
        return 0;
}

/* Links a new observer into the inbox of its executor: in place of `old` if that is in the same
 * inbox, otherwise last. The caller gets a reference. */
static int link_observer(dn__topic *topic, const dn__observer_spec *spec, dn_observer *old,
                         dn_observer **ret_observer) DN__HUB_LOCKED
{
        dn_observer *observer;
        dn__inbox *inbox;
        bool is_in_place;
        int r;

        r = get_inbox(topic, spec->executor, &inbox);
        if (r < 0)
                return r;
        r = dn__observer_new(inbox, spec->object, spec->handler, &observer);
        if (r == 0) {
                is_in_place = old && old->inbox == inbox;
                observer->id = is_in_place ? old->id : ++topic->hub->last_observer_id;
                observer->seen = old ? old->seen : topic->sequence;
                observer->n_suspends = spec->is_suspended;
                observer->backlog = spec->backlog;
                dn__observer_link(observer,
                                  is_in_place ? &old->link : inbox->observers.previous);
                *ret_observer = observer;
        }
        dn__inbox_unref(inbox);
        return r;
}

int dn__observe_topic(dn__topic *topic, const dn__observer_spec *spec, dn_observer **ret_observer)
{
        dn_observer *observer = NULL;
        dn__batch batch = { 0 };
        int r;

        assert(spec->handler.invoke);
        dn__hub_lock(topic->hub);
        assert(topic->n_holds > 0);
        /* Earlier posts go only to the existing observers. */
        dn__fanout_missed(topic, &batch);
        r = link_observer(topic, spec, NULL, &observer);
        if (r == 0 && ret_observer)
                *ret_observer = dn_observer_ref(observer);
        dn__hub_unlock(topic->hub);
        dn__batch_run(&batch);
        (void)dn_observer_unref(observer);
        return r;
}

int dn__observe_name(dn__hub *hub, const dn__name *name, const dn__observer_spec *spec,
                     dn_observer **ret_observer)
{
        dn__topic *topic;
        int r, added = 0;

        r = dn__hold_name(hub, name, &topic);
        if ((r == 0 || r == -ENOTCONN) && name->is_prefix)
                dn__prefix_begin(hub, name);
        if (r == 0 || r == -ENOTCONN) {
                added = dn__observe_topic(topic, spec, ret_observer);
                dn__topic_give_back(topic);
        }
        if (added < 0)
                r = added;
        if (r < 0 && r != -ENOTCONN)
                dn__handler_destroy(spec->handler);
        (void)dn__executor_unref(spec->executor);
        return r;
}

/* --- Replacing ------------------------------------------------------------------------------ */

/* Posts the old observer has not seen are passed to the new one, unless they already wait in the
 * same inbox. */
static void hand_over(dn_observer *old, dn_observer *new, dn__batch *batch) DN__HUB_LOCKED
{
        uint64_t sequence = old->inbox->topic->sequence;

        if (new->backlog)
                dn__backlog_move(old->backlog, new->backlog);
        else if (new->inbox != old->inbox)
                dn__inbox_push(new->inbox, old->seen, sequence - old->seen, batch);
}

static int replace(dn_observer *old, const dn__observer_spec *spec, dn_observer **ret_observer)
{
        dn__topic *topic = old->inbox->topic;
        dn_observer *observer = NULL;
        dn__unlinked unlinked = { 0 };
        dn__batch batch = { 0 };
        dn__crowd works = { 0 };
        int r = -EINVAL;

        dn__hub_lock(topic->hub);
        if (!old->is_cancelled)
                r = link_observer(topic, spec, old, &observer);
        if (r == 0) {
                hand_over(old, observer, &batch);
                if (observer->backlog)
                        dn__works_add(&works, observer);
                if (ret_observer)
                        *ret_observer = dn_observer_ref(observer);
                dn__observer_mark_cancelled(old, &unlinked);
        }
        dn__hub_unlock(topic->hub);
        dn__batch_run(&batch);
        dn__works_run(&works);
        dn__unlinked_dispose(&unlinked);
        (void)dn_observer_unref(observer);
        return r;
}

/* Gives the new observer an empty backlog with the same selection. */
static int copy_backlog(const dn__backlog *backlog, dn__observer_spec *spec)
{
        if (!backlog)
                return 0;
        spec->backlog = dn__backlog_new(backlog->behavior, spec->object);
        if (!spec->backlog)
                return -ENOMEM;
        if (spec->object)
                spec->object = spec->backlog->object;
        return 0;
}

/* The center of an observer that outlived it may be closed. */
static bool is_live(dn_observer *observer)
{
        DN__HUB_HOLD(observer->inbox->topic->hub);

        return !observer->is_cancelled;
}

int dn_observer_replace(dn_observer *observer, dn_handler handler, const dn_executor *executor,
                        dn_observer **ret_observer)
{
        DN__CALL();
        dn__hub *hub = observer ? observer->inbox->topic->hub : NULL;
        dn__observer_spec spec = { .handler = handler };
        int r = -EINVAL;

        if (hub && dn__hub_is_current(hub) && handler.invoke && is_live(observer) &&
            !dn__name_is_bus(&observer->inbox->topic->name))
                r = dn__hub_make_executor(hub, executor, &spec.executor);
        if (r == 0) {
                spec.object = observer->object;
                r = copy_backlog(observer->backlog, &spec);
        }
        if (r == 0)
                r = replace(observer, &spec, ret_observer);
        if (r < 0)
                dn__backlog_free(spec.backlog);
        if (r < 0)
                dn__handler_destroy(handler);
        (void)dn__executor_unref(spec.executor);
        return r;
}
