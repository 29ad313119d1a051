/* A separate connection that reports every post on a bus. */
#pragma once

#include "carrier/address.h"
#include "darwinnotify/inspect.h"

/* Reports the posts whose names begin with the prefix until a callback stops it. The address must
 * be one to connect to. Returns as dn_watch_posts(). */
int dn__monitor_run(const dn__address *address, const char *prefix, const dn_watcher *watcher);
