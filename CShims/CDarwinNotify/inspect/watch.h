/* Reports every post: those on a bus, or what the shared table counts while there is no bus. */
#pragma once

#include "carrier/address.h"
#include "darwinnotify/inspect.h"

/* Runs until a callback stops it. Returns as dn_watch_posts(). */
int dn__watch_run(const dn__address *address, const char *prefix, const dn_watcher *watcher);
