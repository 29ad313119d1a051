/* Reports every post: those on a bus, or what the shared table counts while there is no bus.
 *
 * A post is reported once, even if the bus appears or is lost: posts read from the table are
 * dropped when their signals arrive, and posts that the bus has not shown are read from the
 * table. */
#include "inspect/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

#include "carrier/carrier.h"
#include "carrier/dbus/monitor.h"
#include "inspect/follower.h"
#include "util/clock.h"

typedef struct watch {
        const dn__address *address;
        const char *prefix;
        const dn_watcher *watcher;
        dn_watcher on_bus;      /* passes on what the monitor brings */
        dn_watcher in_table;    /* passes on what the follower brings */
        dn__monitor *monitor;   /* NULL: no connection */
        dn__follower *follower; /* NULL: there is no table */
        bool is_following;      /* the table, since there is no bus */
        bool is_ready;          /* and the caller knows */
        uint64_t connect_us;    /* when to try next; DN__NEVER while there is a connection */
        uint64_t backoff_us;
} watch;

static int result_of_callback(int r)
{
        return r < 0 ? -EINVAL : r;
}

/* --- Posts ------------------------------------------------------------------------------------ */

static int tell_ready(watch *watch)
{
        const dn_watcher *watcher = watch->watcher;

        if (watch->is_ready)
                return 0;
        watch->is_ready = true;
        return watcher->ready ? result_of_callback(watcher->ready(watcher->context)) : 0;
}

static int post_in_table(const dn_post_record *record, void *context)
{
        const watch *watch = context;

        return result_of_callback(watch->watcher->post(record, watch->watcher->context));
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
        if (watch->address->address) {
                watch->connect_us = dn__clock_after_us(watch->backoff_us);
                watch->backoff_us *= 2;
                if (watch->backoff_us > DN__BACKOFF_MAX_US)
                        watch->backoff_us = DN__BACKOFF_MAX_US;
        }
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
        r = dn__monitor_open(watch->address, watch->prefix, &watch->on_bus, &watch->monitor);
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

/* --- Both ------------------------------------------------------------------------------------ */

static int wait_for_posts(watch *watch)
{
        uint64_t until_us = watch->connect_us;
        struct pollfd waits[2] = { { .fd = -1 }, { .fd = -1 } };

        if (watch->monitor)
                dn__monitor_get_wait(watch->monitor, &waits[0], &until_us);
        if (watch->is_following)
                waits[1] = (struct pollfd){ .fd = dn__follower_get_fd(watch->follower),
                                            .events = POLLIN };
        if (dn__clock_poll(waits, 2, until_us) < 0 && errno != EINTR)
                return -ENOMEM;
        return 0;
}

static int run(watch *watch)
{
        int r;

        r = watch->address->address ? 0 : lose_bus(watch);
        while (r == 0) {
                r = connect_if_due(watch);
                if (r == 0)
                        r = advance_bus(watch);
                if (r == 0 && watch->is_following)
                        r = dn__follower_read(watch->follower, watch->prefix, &watch->in_table);
                if (r == 0)
                        r = wait_for_posts(watch);
        }
        return r;
}

int dn__watch_run(const dn__address *address, const char *prefix, const dn_watcher *watcher)
{
        watch watch = {
                .address = address,
                .prefix = prefix,
                .watcher = watcher,
                .on_bus = { bus_ready, post_on_bus, &watch },
                .in_table = { NULL, post_in_table, &watch },
                .connect_us = address->address ? 0 : DN__NEVER,
                .backoff_us = DN__BACKOFF_MIN_US,
        };
        int r;

        /* Without a table the bus alone is watched. */
        (void)dn__follower_open(address->scope, &watch.follower);
        r = run(&watch);
        (void)dn__monitor_close(watch.monitor);
        (void)dn__follower_close(watch.follower);
        return r;
}
