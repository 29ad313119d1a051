/* A connection of its own that tells of every post on a bus. */
#pragma once

#include "bus/address.h"
#include "darwinnotify/inspect.h"

/* Tells of the posts whose names begin with the prefix, until a callback ends it. The address is
 * one to connect to. What it returns is that of dn_watch_posts(). */
int dn__monitor_run(const dn__address *address, const char *prefix, const dn_watcher *watcher);
