/* Reports every post: those on a bus, or what the shared table counts while there is no bus.
 *
 * A post is reported once, even if the bus appears or is lost: posts read from the table are
 * dropped when their signals arrive, and posts that the bus has not shown are read from the
 * table. */
#include "inspect/watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "carrier/carrier.h"
#include "carrier/dbus/monitor.h"
#include "inspect/follower.h"
#include "util/clock.h"

typedef struct dn__post_watch {
        dn__address address;
        dn_watcher watcher;
        dn_watcher on_bus;      /* passes on what the monitor brings */
        dn_watcher in_table;    /* passes on what the follower brings */
        dn__monitor *monitor;   /* NULL: no connection */
        dn__follower *follower; /* NULL: there is no table */
        bool is_following;      /* the table, since there is no bus */
        bool is_begun;
        bool is_ready;          /* and the caller knows */
        _Atomic bool is_stopped;
        uint64_t connect_us;    /* when to try next; DN__NEVER while there is a connection */
        uint64_t backoff_us;
        char prefix[];
} watch;

/* The callback, or another thread meanwhile, may have stopped the watch. */
static int result_of_callback(const watch *watch, int r)
{
        if (r == 0 && atomic_load(&watch->is_stopped))
                r = DN__POST_WATCH_STOPPED;
        return r < 0 ? -EINVAL : r;
}

/* --- Posts ------------------------------------------------------------------------------------ */

static int tell_ready(watch *watch)
{
        const dn_watcher *watcher = &watch->watcher;

        if (watch->is_ready)
                return 0;
        if (atomic_load(&watch->is_stopped))
                return DN__POST_WATCH_STOPPED;
        watch->is_ready = true;
        return watcher->ready ? result_of_callback(watch, watcher->ready(watcher->context)) : 0;
}

static int post_in_table(const dn_post_record *record, void *context)
{
        const watch *watch = context;
        const dn_watcher *watcher = &watch->watcher;

        if (atomic_load(&watch->is_stopped))
                return DN__POST_WATCH_STOPPED;
        return result_of_callback(watch, watcher->post(record, watcher->context));
}

static int post_on_bus(const dn_post_record *record, void *context)
{
        const watch *watch = context;

        if (watch->follower && !dn__follower_note(watch->follower, record))
                return 0;
        return post_in_table(record, context);
}

/* The bus delivers signals: the table has the posts before them. */
static int bus_ready(void *context)
{
        watch *watch = context;
        int r = 0;

        watch->backoff_us = DN__BACKOFF_MIN_US;
        if (watch->is_following) {
                dn__follower_pause(watch->follower);
                watch->is_following = false;
                r = dn__follower_read(watch->follower, watch->prefix, &watch->in_table);
        }
        return r ? r : tell_ready(watch);
}

/* --- The bus --------------------------------------------------------------------------------- */

/* There is no bus, or no longer. */
static int lose_bus(watch *watch)
{
        int r = 0;

        watch->monitor = dn__monitor_close(watch->monitor);
        if (!watch->follower)
                return -ENOTCONN;
        if (watch->address.address)
                watch->connect_us = dn__clock_after_us(dn__backoff_next(&watch->backoff_us));
        if (!watch->is_following)
                r = dn__follower_resume(watch->follower);
        if (r < 0)
                return r;
        watch->is_following = true;
        return tell_ready(watch);
}

static int connect_if_due(watch *watch)
{
        int r;

        if (watch->connect_us == DN__NEVER || dn__clock_now_us() < watch->connect_us)
                return 0;
        watch->connect_us = DN__NEVER;
        r = dn__monitor_open(&watch->address, watch->prefix, &watch->on_bus, &watch->monitor);
        return r == -ENOTCONN ? lose_bus(watch) : r;
}

static int advance_bus(watch *watch)
{
        int r;

        if (!watch->monitor)
                return 0;
        r = dn__monitor_advance(watch->monitor);
        return r == -ENOTCONN ? lose_bus(watch) : r;
}

/* --- The table ------------------------------------------------------------------------------- */

static int advance_table(watch *watch)
{
        if (watch->is_following)
                return dn__follower_read(watch->follower, watch->prefix, &watch->in_table);
        if (watch->follower)
                dn__follower_keep_up(watch->follower);
        return 0;
}

/* --- Both ------------------------------------------------------------------------------------ */

void dn__post_watch_get_wait(dn__post_watch *watch, struct pollfd ret_waits[DN__POST_WATCH_N_FDS],
                             uint64_t *ret_until_us)
{
        *ret_until_us = watch->connect_us;
        for (int i = 0; i < DN__POST_WATCH_N_FDS; i++)
                ret_waits[i] = (struct pollfd){ .fd = -1 };
        if (watch->monitor)
                dn__monitor_get_wait(watch->monitor, &ret_waits[0], ret_until_us);
        if (watch->follower)
                dn__follower_prepare(watch->follower, &ret_waits[1], ret_until_us);
}

static int begin_watch(watch *watch)
{
        watch->is_begun = true;
        return watch->address.address ? 0 : lose_bus(watch);
}

int dn__post_watch_advance(dn__post_watch *watch)
{
        int r = 0;

        if (atomic_load(&watch->is_stopped))
                return DN__POST_WATCH_STOPPED;
        if (!watch->is_begun)
                r = begin_watch(watch);
        if (r == 0)
                r = connect_if_due(watch);
        if (r == 0)
                r = advance_bus(watch);
        if (r == 0)
                r = advance_table(watch);
        return r;
}

static int wait_for_posts(watch *watch)
{
        struct pollfd waits[DN__POST_WATCH_N_FDS];
        uint64_t until_us;

        dn__post_watch_get_wait(watch, waits, &until_us);
        if (dn__clock_poll(waits, DN__POST_WATCH_N_FDS, until_us) < 0 && errno != EINTR)
                return -ENOMEM;
        return 0;
}

int dn__post_watch_run(dn__post_watch *watch)
{
        int r;

        do
                r = dn__post_watch_advance(watch);
        while (r == 0 && (r = wait_for_posts(watch)) == 0);
        return r;
}

void dn__post_watch_stop(dn__post_watch *watch)
{
        atomic_store(&watch->is_stopped, true);
}

/* --- The life of a watch --------------------------------------------------------------------- */

int dn__post_watch_new(dn__address address, const char *prefix, const dn_watcher *watcher,
                       dn__post_watch **ret_watch)
{
        size_t n_bytes = strlen(prefix) + 1;
        watch *watch = calloc(1, sizeof(*watch) + n_bytes);

        if (!watch) {
                dn__address_deinit(&address);
                return -ENOMEM;
        }
        *watch = (struct dn__post_watch){
                .address = address,
                .watcher = *watcher,
                .on_bus = { bus_ready, post_on_bus, watch },
                .in_table = { NULL, post_in_table, watch },
                .connect_us = address.address ? 0 : DN__NEVER,
                .backoff_us = DN__BACKOFF_MIN_US,
        };
        memcpy(watch->prefix, prefix, n_bytes);
        /* Without a table the bus alone is watched. */
        (void)dn__follower_open(address.scope, &watch->follower);
        *ret_watch = watch;
        return 0;
}

dn__post_watch *dn__post_watch_free(dn__post_watch *watch)
{
        if (!watch)
                return NULL;
        (void)dn__monitor_close(watch->monitor);
        (void)dn__follower_close(watch->follower);
        dn__address_deinit(&watch->address);
        free(watch);
        return NULL;
}
