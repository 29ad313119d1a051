/* Hands posts with a payload to the queues of their names, or keeps them during a suspension. */
#pragma once

#include "delivery/queue.h"

/* Hands a copy of a post to all observers that receive posts with a payload, or keeps it for them
 * while the hub is suspended. `payload` is NULL if there was no memory for a copy. */
void dn__payloads_hand(dn__hub *hub, const dn__post *post, dn__payload *payload)
        DN__HUB_LOCKED;

/* Hands a post to the observers of one topic with payloads, even while the hub is suspended.
 * Returns false if some of them have missed it for want of memory. */
bool dn__payloads_hand_to(dn__topic *topic, dn__payload *payload) DN__HUB_LOCKED;

/* Suspends the observers of payloads, or resumes them and delivers the kept posts. */
void dn__payloads_set_suspended(dn__hub *hub, bool is_suspended);

/* Drops the kept posts of a hub that is closed. */
void dn__payloads_forget(dn__hub *hub);
