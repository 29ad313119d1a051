/* The D-Bus carrier as the centers use it, except for sending. */
#include "bus/dbus.h"

#include <errno.h>
#include <stdlib.h>

#include "bus/state.h"
#include "darwinnotify/error.h"
#include "util/cleanup.h"

/* --- Creation and destruction ---------------------------------------------------------------- */

void dn__dbus_close(dn__dbus *dbus)
{
        bool is_over;

        if (!dbus)
                return;
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

void dn__dbus_free(dn__dbus *dbus)
{
        if (!dbus)
                return;
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

/* --- Waiting for the bus --------------------------------------------------------------------- */

bool dn__dbus_wait(dn__dbus *dbus, uint64_t *deadline_us) DN__REQUIRES(&dbus->lock)
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
               dn__dbus_wait(dbus, deadline_us))
                continue;
        /* The next call does not wait again for a bus that failed to answer. */
        atomic_store(&dbus->is_tried, true);
}

int dn__dbus_start(dn__dbus *dbus, uint64_t *deadline_us)
{
        int r;

        if (!dbus || atomic_load_explicit(&dbus->is_tried, memory_order_acquire))
                return 0;
        r = dn__loop_start(dbus->loop);
        if (r < 0)
                return r;
        DN__AUTO_LOCK(&dbus->lock);
        if (!dbus->is_started) {
                dbus->is_started = true;
                dbus->connect_us = dbus->address.address ? 0 : DN__NEVER;
                dn__loop_wake(dbus->loop);
        }
        await_first_attempt(dbus, deadline_us);
        return 0;
}

/* sd-bus has queued what the socket did not accept: the loop waits until it does. */
static void wake_to_send(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        if (!dn__connection_can_send(&dbus->connection))
                dn__loop_wake(dbus->loop);
}

/* --- One match rule for each name ------------------------------------------------------ */

int dn__dbus_add_rule(dn__dbus *dbus, const dn__name *name, bool is_counted, dn__rule **ret_rule)
{
        int r;

        *ret_rule = NULL;
        if (!dbus)
                return 0;
        DN__AUTO_LOCK(&dbus->lock);
        r = dn__rules_add(&dbus->rules, name, is_counted, ret_rule);
        if (r == 0)
                wake_to_send(dbus);
        return r;
}

void dn__dbus_set_counted(dn__dbus *dbus, dn__rule *rule, bool is_counted)
{
        if (!rule)
                return;
        DN__AUTO_LOCK(&dbus->lock);
        dn__rule_set_counted(rule, is_counted);
        wake_to_send(dbus);
}

bool dn__dbus_set_region(dn__dbus *dbus, uint64_t region_id)
{
        if (!dbus)
                return true;
        DN__AUTO_LOCK(&dbus->lock);
        dn__rules_set_region(&dbus->rules, region_id);
        wake_to_send(dbus);
        return dbus->rules.n_asked == 0;
}

bool dn__dbus_has_rules(dn__dbus *dbus)
{
        if (!dbus)
                return true;
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.n_asked == 0;
}

int dn__dbus_await_rule(dn__dbus *dbus, const dn__rule *rule, uint64_t *deadline_us)
{
        bool may_wait = dbus && !dn__loop_is_current(dbus->loop);
        int r;

        if (!dbus)
                return DN_NOT_CONNECTED;
        DN__AUTO_LOCK(&dbus->lock);
        do
                r = dn__rules_get_state(&dbus->rules, rule);
        while (r == 0 && dn__dbus_report(dbus) == 0 && may_wait &&
               dn__dbus_wait(dbus, deadline_us));
        if (r != 0)
                return r < 0 ? r : 0;
        /* The caller does not wait for the answer: posts before it are looked for later. */
        dbus->rules.has_gap = true;
        return may_wait ? DN_NOT_CONNECTED : dn__dbus_report(dbus);
}

void dn__dbus_remove_rule(dn__dbus *dbus, dn__rule *rule)
{
        DN__AUTO_LOCK(&dbus->lock);
        if (rule->interface)
                dn__numbers_forget(&dbus->numbers, rule->name_hash);
        else
                dn__numbers_forget_all(&dbus->numbers);
        dn__rules_remove(&dbus->rules, rule);
        wake_to_send(dbus);
}

dn__dbus_counts dn__dbus_get_counts(dn__dbus *dbus)
{
        dn__dbus_counts counts = { 0 };

        if (!dbus)
                return counts;
        DN__AUTO_LOCK(&dbus->lock);
        counts = dbus->counts;
        counts.n_pending = dbus->pending.n_posts + dbus->outbox.n_posts;
        return counts;
}

bool dn__dbus_is_connected(dn__dbus *dbus)
{
        if (!dbus)
                return false;
        DN__AUTO_LOCK(&dbus->lock);
        return dn__dbus_report(dbus) == 0;
}

int dn__dbus_new(const dn__dbus_options *options, dn__dbus **ret_dbus)
{
        dn__dbus *dbus = malloc(sizeof(*dbus) + DN__OUTBOX_BYTES);

        if (!dbus)
                return -ENOMEM;
        *dbus = (dn__dbus){
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
        *ret_dbus = dbus;
        return 0;
}
