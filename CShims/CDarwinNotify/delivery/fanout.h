/* Hands posts to the queues of their names. */
#pragma once

#include "delivery/queue.h"
#include "delivery/topic.h"

/* Hands on one post that no table counts. Returns 1. */
uint64_t dn__fanout_uncounted(dn__topic *topic) DN__HUB_LOCKED;

/* Hands on the posts up to a generation, each exactly once. The topic must have a slot. Returns how
 * many were new. */
uint64_t dn__fanout_counted(dn__topic *topic, uint64_t generation) DN__HUB_LOCKED;

/* Hands on every post counted in the table; does nothing without one. */
void dn__fanout_missed(dn__topic *topic) DN__HUB_LOCKED;

/* Hands a copy of a post to all observers that receive posts with a payload, or keeps it for them
 * while the hub is suspended. `payload` is NULL if there was no memory for a copy. */
void dn__fanout_post(dn__hub *hub, const dn__post *post, dn__payload *payload)
        DN__HUB_LOCKED;

/* Suspends the observers of payloads, or ends that with what was kept. */
void dn__fanout_suspend(dn__hub *hub);
void dn__fanout_resume(dn__hub *hub);

/* Drops what is kept, for a hub that is closed. */
void dn__fanout_forget(dn__hub *hub);
