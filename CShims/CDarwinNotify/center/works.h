/* Enqueues works on the observers' executors for items that are due. */
#pragma once

#include "center/crowd.h"
#include "center/hub.h"
#include "center/observer.h"

/* Adds an observer with a backlog once for each due item without a work. */
void dn__works_add(dn__crowd *works, dn_observer *observer) DN__HUB_LOCKED;

/* Enqueues the works in this order and empties the list. Call without any lock held. */
void dn__works_run(dn__crowd *works);
