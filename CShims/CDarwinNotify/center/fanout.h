/* Passes the posts of a name to its inboxes. */
#pragma once

#include "center/inbox.h"
#include "center/topic.h"

/* Passes on one post that no table counts. Returns 1. */
uint64_t dn__fanout_uncounted(dn__topic *topic, dn__batch *batch) DN__HUB_LOCKED;

/* Passes on the posts up to a generation, each exactly once. The topic must have a slot. Returns
 * how many were new. */
uint64_t dn__fanout_counted(dn__topic *topic, uint64_t generation, dn__batch *batch) DN__HUB_LOCKED;

/* Passes on every post counted in the table; does nothing without one. */
void dn__fanout_missed(dn__topic *topic, dn__batch *batch) DN__HUB_LOCKED;
