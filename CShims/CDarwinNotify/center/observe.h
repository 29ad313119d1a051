/* Controls observers, starting with their registration. */
#pragma once

#include "delivery/hub.h"
#include "delivery/queue.h"
#include "delivery/topic.h"

/* Links a new observer into a held topic, replacing `old` unless that is NULL. `executor` is as
 * for dn_center_observe(). `ret_observer` may be NULL and is set before the first invocation.
 * Returns 0; -EINVAL or -EAGAIN as dn__hub_make_executor(); or -ENOMEM. */
int dn__observe_topic(dn__topic *topic, dn_observer *observer, const dn_executor *executor,
                      dn_observer *old, dn_observer **ret_observer);

/* Registers a new observer of a name, as dn__observe_topic(). Returns as dn_center_observe(). */
int dn__observe_name(dn__hub *hub, const dn__name *name, dn_observer *observer,
                     const dn_executor *executor, dn_observer **ret_observer);

/* Suspends deliveries until dn__observer_resume() has been called as many times; the last call
 * delivers everything posted meanwhile as one. */
void dn__observer_suspend(dn_observer *observer);
void dn__observer_resume(dn_observer *observer);

/* Makes one delivery to this observer only. */
void dn__observer_notify(dn_observer *observer);
