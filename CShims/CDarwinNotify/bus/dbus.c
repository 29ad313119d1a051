/* The carrier over D-Bus, as its center uses it. */
#include "bus/dbus.h"

#include <errno.h>
#include <stdlib.h>

#include "bus/state.h"
#include "util/cleanup.h"

/* --- Waiting for the bus --------------------------------------------------------------------- */

bool dn__dbus_wait(dn__dbus *dbus, uint64_t *deadline_us)
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
        if (dn__loop_is_current(dbus->loop))
                return;
        while (!atomic_load(&dbus->is_tried) && dn__dbus_wait(dbus, deadline_us))
                continue;
        /* The next call does not wait again for a bus that failed to answer. */
        atomic_store(&dbus->is_tried, true);
}

int dn__dbus_begin(dn__dbus *dbus, uint64_t *deadline_us)
{
        int r;

        if (atomic_load(&dbus->is_tried))
                return 0;
        r = dn__loop_start(dbus->loop);
        if (r < 0)
                return r;
        DN__AUTO_LOCK(&dbus->lock);
        if (!dbus->is_started) {
                dbus->is_started = true;
                dbus->connect_us = 0;
                dn__dbus_seek(dbus);
                dn__loop_wake(dbus->loop);
        }
        await_first_attempt(dbus, deadline_us);
        return 0;
}

static void want(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        atomic_store(&dbus->is_wanted, true);
        dn__dbus_seek(dbus);
}

static int dbus_start(dn__carrier *carrier, uint64_t *deadline_us)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);

        if (!atomic_load(&dbus->is_wanted))
                want(dbus);
        return dn__dbus_begin(dbus, deadline_us);
}

/* --- One match rule for each name ------------------------------------------------------------ */

/* sd-bus has queued what the socket did not accept: the loop waits until it does. */
static void wake_to_send(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        if (!dn__connection_can_send(&dbus->connection))
                dn__loop_wake(dbus->loop);
}

static int dbus_subscribe(dn__carrier *carrier, const dn__name *name, bool is_counted,
                          dn__subscription **ret_subscription)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        int r;

        DN__AUTO_LOCK(&dbus->lock);
        r = dn__rules_add(&dbus->rules, name, is_counted, ret_subscription);
        if (r == 0)
                wake_to_send(dbus);
        return r;
}

static void dbus_set_counted(dn__carrier *carrier, dn__subscription *subscription, bool is_counted)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);

        DN__AUTO_LOCK(&dbus->lock);
        dn__rule_set_counted(subscription, is_counted);
        wake_to_send(dbus);
}

static void dbus_set_region(dn__carrier *carrier, uint64_t region_id)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);

        DN__AUTO_LOCK(&dbus->lock);
        dn__rules_set_region(&dbus->rules, region_id);
        wake_to_send(dbus);
}

static int dbus_await(dn__carrier *carrier, const dn__subscription *subscription,
                      uint64_t *deadline_us)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        bool may_wait = !dn__loop_is_current(dbus->loop);
        int r;

        DN__AUTO_LOCK(&dbus->lock);
        do
                r = dn__rules_get_state(&dbus->rules, subscription);
        while (r == 0 && dn__connection_is_ready(&dbus->connection) && may_wait &&
               dn__dbus_wait(dbus, deadline_us));
        if (r != 0)
                return r < 0 ? r : 0;
        /* The caller does not wait for the answer: posts before it are looked for later. */
        dbus->rules.has_gap = true;
        return may_wait ? DN_NOT_CONNECTED : dn__dbus_report(dbus);
}

static void dbus_unsubscribe(dn__carrier *carrier, dn__subscription *subscription)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);

        DN__AUTO_LOCK(&dbus->lock);
        dn__list_append_all(&dbus->rules.wide.numbers, &subscription->numbers);
        dn__rules_remove(&dbus->rules, subscription);
        if (!dn__rules_bring_all(&dbus->rules))
                dn__numbers_forget(&dbus->numbers, &dbus->rules.wide.numbers);
        wake_to_send(dbus);
}

static dn__carrier_status dbus_get_status(dn__carrier *carrier)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        dn__carrier_status status;

        DN__AUTO_LOCK(&dbus->lock);
        status = dbus->counts;
        status.n_pending = dbus->pending.n_posts + dbus->outbox.n_posts;
        status.is_connected = dn__connection_is_ready(&dbus->connection);
        return status;
}

/* --- Creation and destruction ---------------------------------------------------------------- */

static void dbus_close(dn__carrier *carrier)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        bool is_over;

        dn__lock_acquire(&dbus->lock);
        dbus->close_us = dn__clock_after_us(DN__CLOSE_TIMEOUT_US);
        is_over = !dbus->is_started;
        if (is_over)
                dbus->is_closed = true;
        dn__loop_wake(dbus->loop);
        dn__lock_release(&dbus->lock);
        if (is_over)
                dbus->sink->closed(dbus->context);
}

static void dbus_free(dn__carrier *carrier)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);

        dn__lock_acquire(&dbus->lock);
        dn__waiting_deinit(&dbus->waiting);
        dn__peers_deinit(&dbus->peers);
        dn__connection_close(&dbus->connection);
        dn__pending_deinit(&dbus->pending);
        dn__numbers_deinit(&dbus->numbers);
        dn__map_deinit(&dbus->rules.by_interface);
        dn__lock_release(&dbus->lock);
        dn__condition_deinit(&dbus->changed);
        dn__lock_deinit(&dbus->lock);
        dn__address_deinit(&dbus->address);
        free(dbus);
}

static const dn__carrier_ops dbus_ops = {
        .start = dbus_start,
        .subscribe = dbus_subscribe,
        .set_counted = dbus_set_counted,
        .await = dbus_await,
        .unsubscribe = dbus_unsubscribe,
        .set_region = dbus_set_region,
        .post = dn__dbus_post,
        .flush = dn__dbus_flush,
        .take_loss = dn__dbus_take_loss,
        .remain_known = dn__dbus_remain_known,
        .get_status = dbus_get_status,
        .close = dbus_close,
        .free = dbus_free,
};

int dn__dbus_new(const dn__dbus_options *options, dn__carrier **ret_carrier)
{
        dn__dbus *dbus = malloc(sizeof(*dbus) + DN__OUTBOX_BYTES);

        if (!dbus)
                return -ENOMEM;
        *dbus = (dn__dbus){
                .carrier.ops = &dbus_ops,
                .sink = options->sink,
                .context = options->context,
                .source.ops = &dn__dbus_source_ops,
                .loop = options->loop,
                .address = *options->address,
                .wire = options->wire,
                .outbox.bytes = (char *)(dbus + 1),
                .connection.wire = options->wire,
                .connect_us = DN__NEVER,
                .backoff_us = DN__BACKOFF_MIN_US,
                .missed_us = DN__NEVER,
                .close_us = DN__NEVER,
        };
        *options->address = (dn__address){ 0 };
        dn__lock_init(&dbus->lock);
        dn__condition_init(&dbus->changed);
        dn__rules_init(&dbus->rules, &dbus->connection);
        dn__peers_init(&dbus->peers, &dbus->connection, DN__PEER_USER);
        dn__waiting_init(&dbus->waiting);
        dn__pending_init(&dbus->pending);
        dn__loop_add(dbus->loop, &dbus->source);
        *ret_carrier = &dbus->carrier;
        return 0;
}
