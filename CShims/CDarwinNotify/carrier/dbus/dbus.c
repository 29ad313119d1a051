/* The D-Bus carrier: its operations except sending and flushing. */
#include "carrier/dbus/dbus.h"

#include <errno.h>
#include <stdlib.h>

#include "carrier/dbus/flush.h"
#include "carrier/dbus/send.h"
#include "carrier/dbus/source.h"
#include "carrier/dbus/state.h"
#include "util/cleanup.h"

/* --- Creation and destruction ---------------------------------------------------------------- */

static void dbus_close(dn__carrier *carrier)
{
        dn__dbus *dbus = dn__dbus_of(carrier);
        bool is_over;

        dn__lock_acquire(&dbus->lock);
        dbus->close_us = dn__clock_after_us(DN__CLOSE_TIMEOUT_US);
        is_over = !dbus->is_started;
        if (is_over)
                dbus->is_closed = true;
        dn__loop_wake(dbus->loop);
        dn__lock_release(&dbus->lock);
        if (is_over)
                carrier->sink->closed(carrier->context);
}

static void dbus_free(dn__carrier *carrier)
{
        dn__dbus *dbus = dn__dbus_of(carrier);

        dn__lock_acquire(&dbus->lock);
        dn__waiting_deinit(&dbus->waiting);
        dn__peers_deinit(&dbus->peers);
        dn__connection_close(&dbus->connection);
        dn__pending_deinit(&dbus->in_flight);
        dn__pending_deinit(&dbus->pending);
        dn__outbox_deinit(&dbus->outbox);
        dn__numbers_deinit(&dbus->numbers);
        dn__rules_deinit(&dbus->rules);
        dn__lock_release(&dbus->lock);
        dn__condition_deinit(&dbus->changed);
        dn__lock_deinit(&dbus->lock);
        dn__address_deinit(&dbus->address);
        free(dbus);
}

/* --- Waiting for the bus --------------------------------------------------------------------- */

/* Waits for a change; returns false at the deadline. */
static bool wait_for_change(dn__dbus *dbus, uint64_t *deadline_us) DN__REQUIRES(&dbus->lock)
{
        if (!*deadline_us)
                *deadline_us = dn__clock_after_us(DN__CONNECTION_TIMEOUT_US);
        if (dn__clock_now_us() >= *deadline_us)
                return false;
        (void)dn__condition_wait(&dbus->changed, &dbus->lock, *deadline_us);
        return true;
}

static void await_first_attempt(dn__dbus *dbus, uint64_t *deadline_us) DN__REQUIRES(&dbus->lock)
{
        if (dbus->address.address && dn__loop_is_current(dbus->loop))
                return;
        while (dbus->address.address && !atomic_load(&dbus->is_tried) &&
               wait_for_change(dbus, deadline_us))
                continue;
        /* The next call does not wait again for a bus that failed to answer. */
        atomic_store(&dbus->is_tried, true);
}

static int dbus_start(dn__carrier *carrier, uint64_t *deadline_us)
{
        dn__dbus *dbus = dn__dbus_of(carrier);
        int r;

        if (atomic_load_explicit(&dbus->is_tried, memory_order_acquire))
                return 0;
        r = dn__loop_start(dbus->loop);
        if (r < 0)
                return r;
        DN__HOLD(&dbus->lock);
        if (!dbus->is_started) {
                dbus->is_started = true;
                dbus->connect_us = dbus->address.address ? 0 : DN__NEVER;
                dn__loop_wake(dbus->loop);
        }
        await_first_attempt(dbus, deadline_us);
        return 0;
}

/* --- Watched names, one match rule each ------------------------------------------------------ */

static int dbus_watch(dn__carrier *carrier, const dn__name *name, dn__watch **ret_watch)
{
        dn__dbus *dbus = dn__dbus_of(carrier);
        dn__rule *rule;
        int r;

        DN__HOLD(&dbus->lock);
        r = dn__rules_add(&dbus->rules, name, &rule);
        if (r < 0)
                return r;
        if (!dn__connection_can_send(&dbus->connection))
                dn__loop_wake(dbus->loop);
        *ret_watch = (dn__watch *)rule;
        return 0;
}

static int dbus_await_watch(dn__carrier *carrier, dn__watch *watch, uint64_t *deadline_us)
{
        const dn__rule *rule = (const dn__rule *)watch;
        dn__dbus *dbus = dn__dbus_of(carrier);
        bool may_wait = !dn__loop_is_current(dbus->loop);
        int r;

        DN__HOLD(&dbus->lock);
        do
                r = dn__rules_get_state(&dbus->rules, rule);
        while (r == 0 && dn__dbus_report(dbus) == 0 && may_wait &&
               wait_for_change(dbus, deadline_us));
        if (r != 0)
                return r < 0 ? r : 0;
        /* A caller that does not wait for the answer is later told of what was posted in the
         * meantime. */
        dbus->has_unasked = true;
        return may_wait ? -ENOTCONN : dn__dbus_report(dbus);
}

static void dbus_unwatch(dn__carrier *carrier, dn__watch *watch)
{
        dn__rule *rule = (dn__rule *)watch;
        dn__dbus *dbus = dn__dbus_of(carrier);

        DN__HOLD(&dbus->lock);
        if (rule->interface)
                dn__numbers_forget(&dbus->numbers, rule->name_hash);
        else
                dn__numbers_forget_all(&dbus->numbers);
        dn__rules_remove(&dbus->rules, rule);
        if (!dn__connection_can_send(&dbus->connection))
                dn__loop_wake(dbus->loop);
}

static dn__carrier_counts dbus_get_counts(dn__carrier *carrier)
{
        dn__dbus *dbus = dn__dbus_of(carrier);
        dn__carrier_counts counts;

        DN__HOLD(&dbus->lock);
        counts = dbus->counts;
        counts.n_waiting = dbus->pending.n_posts + dbus->outbox.n_posts;
        return counts;
}

static bool dbus_is_connected(dn__carrier *carrier)
{
        dn__dbus *dbus = dn__dbus_of(carrier);
        bool is_connected;

        dn__lock_acquire(&dbus->lock);
        is_connected = dn__dbus_report(dbus) == 0;
        dn__lock_release(&dbus->lock);
        return is_connected;
}

static const dn__carrier_ops dbus_ops = {
        .start = dbus_start,
        .send = dn__dbus_send,
        .watch = dbus_watch,
        .await_watch = dbus_await_watch,
        .unwatch = dbus_unwatch,
        .flush = dn__dbus_flush,
        .take_untaken = dn__dbus_take_untaken,
        .linger = dn__dbus_linger,
        .get_counts = dbus_get_counts,
        .is_connected = dbus_is_connected,
        .close = dbus_close,
        .free = dbus_free,
};

int dn__dbus_new(const dn__dbus_options *options, dn__carrier **ret_carrier)
{
        dn__dbus *dbus = calloc(1, sizeof(*dbus));
        dn__address address = options->address;

        if (!dbus) {
                dn__address_deinit(&address);
                return -ENOMEM;
        }
        *dbus = (dn__dbus){
                .carrier = { &dbus_ops, options->sink, options->context },
                .source.ops = &dn__dbus_source_ops,
                .loop = options->loop,
                .address = address,
                .wire = options->wire,
                .connection.wire = options->wire,
                .connect_us = DN__NEVER,
                .backoff_us = DN__BACKOFF_MIN_US,
                .missed_us = DN__NEVER,
                .close_us = DN__NEVER,
        };
        dn__lock_init(&dbus->lock);
        dn__condition_init(&dbus->changed);
        dn__rules_init(&dbus->rules, &dbus->connection);
        dn__peers_init(&dbus->peers, &dbus->connection, DN__PEER_USER);
        dn__waiting_init(&dbus->waiting);
        dn__numbers_init(&dbus->numbers);
        dn__pending_init(&dbus->pending);
        dn__pending_init(&dbus->in_flight);
        dn__loop_add(dbus->loop, &dbus->source);
        *ret_carrier = &dbus->carrier;
        return 0;
}
