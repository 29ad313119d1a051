/* Passes posts to the observers that receive each separately. */
#pragma once

#include "center/crowd.h"
#include "center/hub.h"
#include "post/post.h"

/* Passes a post to all of the hub's observers that have a backlog and select it. dn__works_run()
 * delivers it. */
void dn__dispatch_post(dn__hub *hub, const dn__post *post, dn__crowd *works) DN__HUB_LOCKED;
