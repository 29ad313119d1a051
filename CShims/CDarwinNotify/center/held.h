/* Delivers what was held while a center was suspended, in the order of the posts. */
#pragma once

#include "center/crowd.h"
#include "center/hub.h"

/* Makes all held items due. dn__works_run() delivers them. */
void dn__held_deliver(dn__hub *hub, dn__crowd *works) DN__HUB_LOCKED;
