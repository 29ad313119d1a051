/* Reports every post: those on a bus, or what the shared table counts while there is no bus. */
#pragma once

#include <poll.h>
#include <stdint.h>

#include "carrier/address.h"
#include "darwinnotify/inspect.h"
#include "inspect/lookout.h"

typedef struct dn__post_watch dn__post_watch;

/* What a watch waits for besides a point in time. */
#define DN__POST_WATCH_N_FDS (1 + DN__LOOKOUT_N_WAITS)

/* What a watch that was stopped returns. */
#define DN__POST_WATCH_STOPPED 1

/* The address is consumed, also on failure; the prefix and the watcher are copied. Returns 0 or
 * -ENOMEM. */
int dn__post_watch_new(dn__address address, const char *prefix, const dn_watcher *watcher,
                       dn__post_watch **ret_watch);

/* Does a bounded share of what can be done without waiting, and runs the callbacks. Returns 0, or
 * how the watch has ended: as dn_watch_posts(). */
int dn__post_watch_advance(dn__post_watch *watch);

/* Returns what to wait for before the next call of dn__post_watch_advance(). */
void dn__post_watch_get_wait(dn__post_watch *watch, struct pollfd ret_waits[DN__POST_WATCH_N_FDS],
                             uint64_t *ret_until_us);

/* Advances until the watch ends. Returns as dn__post_watch_advance(). */
int dn__post_watch_run(dn__post_watch *watch);

/* No callback begins after this, except one that another thread is about to call: the next advance
 * ends the watch. Any thread. */
void dn__post_watch_stop(dn__post_watch *watch);

/* NULL is allowed. Returns NULL. */
dn__post_watch *dn__post_watch_free(dn__post_watch *watch);
