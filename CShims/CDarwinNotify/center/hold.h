/* Holds names. The posts of a held name are counted and received. */
#pragma once

#include "delivery/hub.h"
#include "delivery/topic.h"

/* Finds or creates the topic of a name and holds it. Returns when a carrier delivers its posts: 0;
 * DN_NOT_CONNECTED if held but heard only inside the process; -EACCES, -ENOMEM, -EAGAIN or -ENOBUFS
 * if not held. Release with dn__topic_give_back(). */
int dn__hold_name(dn__hub *hub, const dn__name *name, dn__topic **ret_topic);
