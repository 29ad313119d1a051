/* Notifies observers of a prefix of the names that the table counts. */
#pragma once

#include "center/crowd.h"
#include "center/hub.h"

/* Records the current counts of a prefix's names: an observer added next is notified of later
 * posts. */
void dn__prefix_begin(dn__hub *hub, const dn__name *prefix);

/* Passes on a post of this process, once counted, or a received one: as one, or as many as the
 * table has counted that were not passed on. */
void dn__prefix_hand(dn__hub *hub, const dn__post *post, dn__crowd *works) DN__HUB_LOCKED;

/* Passes on what the table has counted for the known names. */
void dn__prefix_missed(dn__hub *hub, dn__crowd *works) DN__HUB_LOCKED;
