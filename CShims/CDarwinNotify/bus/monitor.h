/* A separate connection that reports every post on a bus. */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "bus/address.h"
#include "darwinnotify/inspect.h"

typedef struct dn__monitor dn__monitor;

/* Starts to connect. The address must be one to connect to. `watcher` is borrowed until the monitor
 * is closed; its callbacks run within dn__monitor_advance(), `ready` if it is not NULL once the bus
 * delivers signals. Returns 0, -ENOMEM, or -ENOTCONN if there is no bus. */
int dn__monitor_open(const dn__address *address, const char *prefix, const dn_watcher *watcher,
                     dn__monitor **ret_monitor);

/* Does a bounded share of what can be done without waiting. Returns 0; what a callback returned, if
 * not 0; -ENOMEM; -ENOBUFS if the bus refuses a rule; or -ENOTCONN if the bus is gone, or does not
 * answer within the time that a call waits for it. */
int dn__monitor_advance(dn__monitor *monitor);

/* Returns what to wait for before the next call of dn__monitor_advance(): a descriptor with its
 * events and a point in time. */
void dn__monitor_get_wait(dn__monitor *monitor, struct pollfd *ret_wait, uint64_t *ret_until_us);

/* NULL is allowed. Returns NULL. */
dn__monitor *dn__monitor_close(dn__monitor *monitor);
