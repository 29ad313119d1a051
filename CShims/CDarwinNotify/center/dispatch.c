/* Passes posts to the observers that receive each separately. */
#include "center/dispatch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "center/held.h"
#include "center/topic.h"
#include "center/works.h"

/* --- One observer --------------------------------------------------------------------------- */

static void keep(dn_observer *observer, dn__kept_post *kept, uint64_t arrival) DN__HUB_LOCKED
{
        dn__backlog *backlog = observer->backlog;

        if (backlog->behavior == DN_SUSPENSION_HOLD)
                dn__backlog_hold(backlog, kept, arrival);
        else if (backlog->behavior != DN_SUSPENSION_DROP)
                dn__backlog_coalesce(backlog, kept, arrival);
}

static void hand_to(dn_observer *observer, dn__kept_post *kept, dn__crowd *works) DN__HUB_LOCKED
{
        dn__hub *hub = observer->inbox->topic->hub;
        dn__backlog *backlog = observer->backlog;

        if (hub->is_suspended) {
                keep(observer, kept, hub->n_arrivals);
                return;
        }
        dn__backlog_hold(backlog, kept, hub->n_arrivals);
        while (backlog->n_due < backlog->n_items)
                dn__backlog_release(backlog);
        dn__works_add(works, observer);
}

/* --- Those who ask for a post --------------------------------------------------------------- */

static bool asks_for(const dn_observer *observer, const dn__post *post) DN__HUB_LOCKED
{
        return !observer->object ||
               (post->body.object && strcmp(observer->object, post->body.object) == 0);
}

static void gather(dn__crowd *crowd, dn__topic *topic, const dn__post *post) DN__HUB_LOCKED
{
        for (dn__link *at = topic->inboxes.next; at != &topic->inboxes; at = at->next) {
                dn__inbox *inbox = DN__CONTAINER(at, dn__inbox, link);

                for (dn__link *link = inbox->observers.next; link != &inbox->observers;
                     link = link->next) {
                        dn_observer *observer = DN__CONTAINER(link, dn_observer, link);

                        if (observer->is_cancelled || !observer->backlog)
                                continue;
                        /* The objects of the missing posts are unknown. */
                        dn__backlog_note_dropped(observer->backlog, post->body.n_lost);
                        if (asks_for(observer, post) && !dn__crowd_add(crowd, observer))
                                dn__backlog_note_dropped(observer->backlog, 1);
                }
        }
}

/* Observers of a prefix do not receive names of another user that they could not observe
 * individually. */
static void gather_all(dn__crowd *crowd, dn__hub *hub, const dn__post *post) DN__HUB_LOCKED
{
        dn__topic *topic = dn__topic_find(hub, &post->name);

        if (topic)
                gather(crowd, topic, post);
        for (dn__link *link = hub->prefixes.next; link != &hub->prefixes; link = link->next) {
                topic = DN__CONTAINER(link, dn__topic, prefix_link);
                if (dn__name_begins(&post->name, &topic->name) &&
                    (!post->name.is_reserved || dn__name_may_observe(&post->name, geteuid())))
                        gather(crowd, topic, post);
        }
        if (crowd->n_observers > 1)
                qsort(dn__crowd_get(crowd), crowd->n_observers, sizeof(dn_observer *),
                      dn__observer_compare);
}

/* Returns whether a post is delivered although the center is suspended. */
static bool is_immediate(dn__crowd *crowd, const dn__post *post) DN__HUB_LOCKED
{
        dn_observer **observers = dn__crowd_get(crowd);

        for (size_t i = 0; i < crowd->n_observers; i++)
                if (observers[i]->backlog->behavior == DN_SUSPENSION_DELIVER_IMMEDIATELY)
                        return true;
        return post->body.is_immediate && crowd->n_observers > 0;
}

static void hand_to_all(dn__hub *hub, dn__crowd *crowd, const dn__post *post, dn__crowd *works)
        DN__HUB_LOCKED
{
        dn_observer **observers = dn__crowd_get(crowd);
        bool was_suspended = hub->is_suspended;
        dn__kept_post *kept = dn__kept_post_new(post);

        hub->n_arrivals++;
        /* As if the suspension ended for this post. */
        if (was_suspended && is_immediate(crowd, post)) {
                dn__held_deliver(hub, works);
                hub->is_suspended = false;
        }
        for (size_t i = 0; i < crowd->n_observers; i++) {
                if (kept)
                        hand_to(observers[i], kept, works);
                else
                        dn__backlog_note_dropped(observers[i]->backlog, 1);
        }
        hub->is_suspended = was_suspended;
        dn__kept_post_unref(kept);
}

void dn__dispatch_post(dn__hub *hub, const dn__post *post, dn__crowd *works)
{
        dn__crowd crowd = { 0 };

        gather_all(&crowd, hub, post);
        if (crowd.n_observers > 0)
                hand_to_all(hub, &crowd, post, works);
        dn__crowd_clear(&crowd);
}
