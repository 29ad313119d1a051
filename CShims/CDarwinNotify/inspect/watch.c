/* Watches every post on a bus. */
#include "inspect/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bus/address.h"
#include "bus/monitor.h"
#include "darwinnotify/inspect.h"
#include "util/bundle.h"
#include "util/call.h"
#include "util/cleanup.h"
#include "util/fork.h"

/* What a watch that was stopped returns. */
#define STOPPED 1

struct dn_watch {
        uint64_t fork_id; /* of the process that opened it */
        dn__link link;    /* in the list of watches */
        dn_watcher watcher;
        dn_watcher checked; /* calls the watcher unless the watch was stopped */
        dn__monitor *monitor;
        dn__bundle bundle;
        _Atomic bool is_stopped;
        int result; /* 0 while it goes on */
        char prefix[];
};

/* --- The list of watches ---------------------------------------------------------------------- */

static _Atomic(dn__per_process *) watches;

bool dn__watches_are_none(void)
{
        dn__process_list *list = dn__process_list_find(&watches);

        if (!list)
                return true;
        DN__HOLD(&list->lock);
        return dn__list_is_empty(&list->head);
}

void dn__watches_free(void)
{
        dn__process_state_free(&watches);
}

static int enlist_watch(dn_watch *watch)
{
        dn__process_list *list = dn__process_list_get(&watches);

        if (!list)
                return -ENOMEM;
        DN__HOLD(&list->lock);
        dn__list_append(&list->head, &watch->link);
        return 0;
}

static void delist_watch(dn_watch *watch)
{
        dn__process_list *list = dn__process_list_find(&watches);

        DN__HOLD(&list->lock);
        dn__list_remove(&watch->link);
}

/* --- Callbacks -------------------------------------------------------------------------------- */

/* The callback, or another thread meanwhile, may have stopped the watch. */
static int result_of_callback(const dn_watch *watch, int r)
{
        if (r == 0 && atomic_load(&watch->is_stopped))
                return STOPPED;
        return r < 0 ? -EINVAL : r;
}

static int call_ready(void *context)
{
        const dn_watch *watch = context;
        const dn_watcher *watcher = &watch->watcher;

        if (!watcher->ready || atomic_load(&watch->is_stopped))
                return result_of_callback(watch, 0);
        return result_of_callback(watch, watcher->ready(watcher->context));
}

static int call_post(const dn_post_record *record, void *context)
{
        const dn_watch *watch = context;
        const dn_watcher *watcher = &watch->watcher;

        if (atomic_load(&watch->is_stopped))
                return STOPPED;
        return result_of_callback(watch, watcher->post(record, watcher->context));
}

/* --- Opening and closing ---------------------------------------------------------------------- */

static int open_monitor(const char *bus, dn_watch *watch)
{
        dn__address address;
        int r;

        r = dn__address_resolve(bus, &address);
        if (r < 0)
                return r;
        r = address.address ? dn__monitor_open(&address, watch->prefix, &watch->checked,
                                               &watch->monitor)
                            : -ENOTCONN;
        dn__address_deinit(&address);
        return r;
}

static int set_up(const char *bus, dn_watch *watch)
{
        int r;

        r = open_monitor(bus, watch);
        if (r < 0)
                return r;
        r = dn__bundle_init(&watch->bundle);
        if (r < 0)
                return -ENOMEM;
        dn__bundle_set(&watch->bundle, &(struct pollfd){ .fd = -1 }, 0);
        r = enlist_watch(watch);
        if (r < 0)
                dn__bundle_deinit(&watch->bundle);
        return r;
}

int dn_watch_open(const char *bus, const char *prefix, const dn_watcher *watcher,
                  dn_watch **ret_watch)
{
        DN__CALL();
        size_t n_bytes = prefix ? strlen(prefix) + 1 : 1;
        dn_watch *watch;
        int r;

        if (!watcher || !watcher->post || (bus && !*bus) || !ret_watch)
                return -EINVAL;
        watch = calloc(1, sizeof(*watch) + n_bytes);
        if (!watch)
                return -ENOMEM;
        watch->fork_id = dn__fork_id();
        watch->watcher = *watcher;
        watch->checked = (dn_watcher){ call_ready, call_post, watch };
        if (prefix)
                memcpy(watch->prefix, prefix, n_bytes);
        r = set_up(bus, watch);
        if (r == 0) {
                *ret_watch = watch;
                return 0;
        }
        (void)dn__monitor_close(watch->monitor);
        free(watch);
        return r;
}

static bool is_own(const dn_watch *watch)
{
        return watch && watch->fork_id == dn__fork_id();
}

dn_watch *dn_watch_close(dn_watch *watch)
{
        DN__CALL();

        if (!is_own(watch))
                return NULL;
        delist_watch(watch);
        (void)dn__monitor_close(watch->monitor);
        dn__bundle_deinit(&watch->bundle);
        free(watch);
        return NULL;
}

/* --- In the host's loop ----------------------------------------------------------------------- */

int dn_watch_get_fd(dn_watch *watch)
{
        return watch ? watch->bundle.fd : -EINVAL;
}

static void set_bundle(dn_watch *watch)
{
        struct pollfd wait;
        uint64_t until_us;

        dn__monitor_get_wait(watch->monitor, &wait, &until_us);
        dn__bundle_set(&watch->bundle, &wait, until_us);
}

int dn_watch_process(dn_watch *watch)
{
        DN__CALL();

        if (!is_own(watch))
                return -EINVAL;
        if (watch->result)
                return watch->result;
        watch->result = atomic_load(&watch->is_stopped) ? STOPPED
                                                        : dn__monitor_advance(watch->monitor);
        if (watch->result)
                dn__bundle_ring(&watch->bundle);
        else
                set_bundle(watch);
        return watch->result;
}

void dn_watch_stop(dn_watch *watch)
{
        DN__CALL();

        if (!is_own(watch))
                return;
        atomic_store(&watch->is_stopped, true);
        dn__bundle_ring(&watch->bundle);
}

/* --- On a thread of the caller ---------------------------------------------------------------- */

int dn_watch_posts(const char *bus, const char *prefix, const dn_watcher *watcher)
{
        DN__CALL();
        struct pollfd wait = { .events = POLLIN };
        dn_watch *watch;
        int r;

        r = dn_watch_open(bus, prefix, watcher, &watch);
        if (r < 0)
                return r;
        wait.fd = dn_watch_get_fd(watch);
        do {
                (void)poll(&wait, 1, -1);
                r = dn_watch_process(watch);
        } while (r == 0);
        (void)dn_watch_close(watch);
        return r;
}
