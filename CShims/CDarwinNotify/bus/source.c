/* The carrier over D-Bus as a source of its loop.
 *
 * Callbacks that may block do not run here, unless an observer asked for that, so a slow callback
 * cannot fill the queue of the bus. */
#include "bus/state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "util/cleanup.h"
#include "util/debug.h"

/* A connection that lasted this long counts as good: the next loss restarts the backoff. */
#define GOOD_CONNECTION_US (1 * DN__US_PER_SECOND)

/* Work allowed for reading, callbacks and sending before other sources get their turn. */
#define TURN_N_STEPS 256

/* How long a process that only posts looks for a bus that may restart. After that, it looks only
 * when it posts. */
#define SEARCH_US (60 * DN__US_PER_SECOND)

void dn__dbus_seek(dn__dbus *dbus)
{
        dbus->search_us = dn__clock_after_us(SEARCH_US);
        if (!dbus->is_resting)
                return;
        dbus->is_resting = false;
        dbus->connect_us = 0;
        dn__loop_wake(dbus->loop);
}

/* Many processes lose a bus at once. The clock, scrambled, spreads their reconnections. */
static void connect_later(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        uint64_t half_us = dbus->backoff_us / 2;

        dbus->backoff_us = dn__clock_earlier(2 * dbus->backoff_us, DN__BACKOFF_MAX_US);
        dbus->connect_us = dn__clock_after_us(half_us + dn__clock_now_us() * 2654435761u %
                                                                (half_us + 1));
        dbus->is_resting = !atomic_load(&dbus->is_wanted) && dbus->connect_us > dbus->search_us;
        if (dbus->is_resting)
                dbus->connect_us = DN__NEVER;
        atomic_store(&dbus->is_tried, true);
        dn__condition_broadcast(&dbus->changed);
}

/* Closes the connection and forgets what depends on it. */
static void drop_connection(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        if (dbus->client)
                dbus->client->ops->disconnected(dbus->client);
        dn__rules_disconnected(&dbus->rules);
        dn__peers_disconnected(&dbus->peers);
        dn__connection_close(&dbus->connection);
}

static void disconnect(dn__dbus *dbus, int reason) DN__REQUIRES(&dbus->lock)
{
        dbus->failure = reason;
        if (dn__connection_is_ready(&dbus->connection)) {
                dn__dbus_seek(dbus);
                dbus->counts.n_losses++;
                dn__dbus_note_unread(dbus);
                if (dn__clock_now_us() - dbus->connected_us > GOOD_CONNECTION_US)
                        dbus->backoff_us = DN__BACKOFF_MIN_US;
        }
        drop_connection(dbus);
        /* The next connection may not be native. */
        if (dbus->outbox.n_posts)
                dbus->outbox.n_bytes = dbus->wire->make_plain(dbus->outbox.bytes,
                                                              dbus->outbox.n_bytes);
        dbus->outbox.is_blocked = false;
        connect_later(dbus);
}

/* Opening may take a while if an address contains a host name; no caller waits for it. */
static void connect_if_due(dn__dbus *dbus)
{
        dn__connection connection = { .wire = dbus->wire };
        bool is_due;
        int r = 0;

        dn__lock_acquire(&dbus->lock);
        is_due = dbus->connect_us != DN__NEVER && dbus->connect_us <= dn__clock_now_us();
        if (is_due)
                dbus->connect_us = DN__NEVER;
        dn__lock_release(&dbus->lock);
        if (!is_due)
                return;
        r = dn__connection_open(&connection, &dbus->address);
        dn__lock_acquire(&dbus->lock);
        if (r < 0) {
                dbus->failure = r;
                connect_later(dbus);
        } else {
                dbus->connection = connection;
        }
        dn__lock_release(&dbus->lock);
}

/* Called when the bus has said hello: sets up everything the previous connection had. */
static void connected(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        atomic_store(&dbus->is_tried, true);
        dbus->connected_us = dn__clock_now_us();
        dbus->counts.n_connects++;
        dbus->rules.has_gap = true;
        dn__numbers_forget_all(&dbus->numbers);
        dn__rules_connected(&dbus->rules);
        if (dbus->client)
                dbus->client->ops->connected(dbus->client);
        dn__condition_broadcast(&dbus->changed);
}

/* Answers to our queries are dispatched within step(), so check the outcome after it. */
static void stepped(dn__dbus *dbus, bool was_ready, size_t n_asked)
        DN__REQUIRES(&dbus->lock)
{
        if (!was_ready && dn__connection_is_ready(&dbus->connection))
                connected(dbus);
        if (dbus->rules.n_asked != n_asked)
                dn__condition_broadcast(&dbus->changed);
        if (dbus->rules.n_asked > 0 || !dn__connection_is_ready(&dbus->connection))
                return;
        dn__rules_settle(&dbus->rules);
        if (dbus->rules.has_gap)
                dbus->missed_us = 0;
        dbus->rules.has_gap = false;
}

/* Returns whether there may be more; `message` is the previous message and, on return, the new
 * one. */
static bool step(dn__dbus *dbus, sd_bus_message **message) DN__REQUIRES(&dbus->lock)
{
        bool was_ready = dn__connection_is_ready(&dbus->connection);
        size_t n_asked = dbus->rules.n_asked;
        int r;

        *message = sd_bus_message_unref(*message);
        if (!dn__connection_is_open(&dbus->connection))
                return false;
        /* Before sd-bus clears the socket's error. */
        if (was_ready && dbus->n_read != dbus->counts.n_sent)
                (void)dn__dbus_note_read(dbus);
        r = dn__connection_step(&dbus->connection, message);
        if (r < 0)
                disconnect(dbus, r);
        else
                stepped(dbus, was_ready, n_asked);
        return r > 0;
}

/* Runs the callbacks of each message right after it: someone is waiting for them. */
static void receive(dn__dbus *dbus)
{
        sd_bus_message *message = NULL;

        dn__lock_acquire(&dbus->lock);
        /* The host may have closed the descriptor. */
        if (dn__connection_is_open(&dbus->connection) &&
            !dn__connection_is_intact(&dbus->connection))
                disconnect(dbus, -EBADF);
        for (size_t i = 0; i < TURN_N_STEPS && step(dbus, &message); i++) {
                if (!message)
                        continue;
                dn__lock_release(&dbus->lock);
                dn__dbus_handle(dbus, message);
                dn__loop_run_queued(dbus->loop);
                dn__lock_acquire(&dbus->lock);
        }
        (void)sd_bus_message_unref(message);
        dn__lock_release(&dbus->lock);
}

/* The socket may accept posts again, and a flood may be over. */
static void look_at_socket(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        dbus->outbox.is_blocked = false;
        if (dbus->outbox.until_us && dn__clock_now_us() >= dbus->outbox.until_us)
                dbus->outbox.until_us = 0;
}

static void send_pending(dn__dbus *dbus)
{
        bool is_sent = true;

        for (size_t i = 0; i < TURN_N_STEPS && is_sent; i++) {
                dn__pending_post *sent = NULL;

                dn__lock_acquire(&dbus->lock);
                if (i == 0)
                        look_at_socket(dbus);
                is_sent = dn__dbus_send_pending(dbus, &sent);
                dn__lock_release(&dbus->lock);
                dn__pending_post_free(sent);
        }
}

/* A closing carrier first sends what waits for its bus. */
static bool is_over(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        return dbus->close_us != DN__NEVER && !dbus->is_closed &&
               (dn__dbus_is_drained(dbus) || !dn__connection_is_open(&dbus->connection) ||
                dn__clock_now_us() >= dbus->close_us);
}

/* From here on nothing is left to do. */
static void let_go(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        dbus->is_closed = true;
        dbus->is_resting = false;
        dbus->connect_us = DN__NEVER;
        dn__waiting_deinit(&dbus->waiting);
        drop_connection(dbus);
}

static uint64_t count_unreported(const dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        return dbus->counts.n_connects + dbus->counts.n_losses - dbus->reported.n_connects -
               dbus->reported.n_losses;
}

/* Returns what is to be reported, or 0: not the same failure of each further attempt. */
static int take_failure(dn__dbus *dbus, bool is_found, bool is_lost) DN__REQUIRES(&dbus->lock)
{
        int failure = dbus->failure;

        dbus->failure = 0;
        if (is_found)
                dbus->reported_failure = 0;
        if (!failure || (!is_lost && failure == dbus->reported_failure))
                return 0;
        /* After a loss, the first attempt is news. */
        dbus->reported_failure = is_lost ? 0 : failure;
        return failure;
}

/* Reports what has happened to the connection. */
static void report_changes(dn__dbus *dbus)
{
        const char *center = dbus->wire->center, *address = dbus->address.address;
        char name[64] = "";
        bool is_found, is_lost;
        uint64_t n_changes;
        int failure;

        dn__lock_acquire(&dbus->lock);
        n_changes = count_unreported(dbus);
        is_found = dbus->counts.n_connects != dbus->reported.n_connects;
        is_lost = dbus->counts.n_losses != dbus->reported.n_losses;
        failure = take_failure(dbus, is_found, is_lost);
        dbus->reported = dbus->counts;
        if (is_found && dbus->connection.unique_name)
                (void)snprintf(name, sizeof(name), " as %s", dbus->connection.unique_name);
        dn__lock_release(&dbus->lock);
        if (is_found)
                dn__debug_say(0, "%s center: found the bus %s%s", center, address, name);
        if (failure)
                dn__debug_say(failure, "%s center: %s the bus %s, will try again", center,
                              is_lost ? "lost" : "cannot reach", address);
        for (; n_changes > 0; n_changes--)
                dbus->sink->connection_changed(dbus->context);
}

/* Notifies everyone affected by what this turn changed. */
static void end_turn(dn__dbus *dbus)
{
        const dn__sink *sink = dbus->sink;
        bool missed, ends, has_news;

        dn__lock_acquire(&dbus->lock);
        missed = dbus->missed_us != DN__NEVER && dbus->missed_us <= dn__clock_now_us();
        if (missed)
                dbus->missed_us = DN__NEVER;
        if (dn__dbus_is_drained(dbus) || (dbus->outbox.n_posts && !dbus->outbox.is_blocked))
                dn__condition_broadcast(&dbus->changed);
        ends = is_over(dbus);
        if (ends)
                let_go(dbus);
        has_news = count_unreported(dbus) || dbus->failure;
        dn__lock_release(&dbus->lock);
        if (has_news)
                report_changes(dbus);
        if (missed && sink->may_have_missed)
                sink->may_have_missed(dbus->context);
        if (dbus->client)
                dbus->client->ops->dispatch(dbus->client);
        if (ends)
                sink->closed(dbus->context);
}

/* --- As a source of the loop ------------------------------------------------------------------ */

static void limit_wait(dn__wait *wait, uint64_t until_us)
{
        wait->until_us = dn__clock_earlier(wait->until_us, until_us);
}

static bool prepare_open(dn__dbus *dbus, dn__wait *wait) DN__REQUIRES(&dbus->lock)
{
        int r = 0;

        if (dn__connection_is_open(&dbus->connection))
                r = dn__connection_get_wait(&dbus->connection, wait);
        if (r < 0)
                disconnect(dbus, r); /* unreachable: a step has noticed that it is closed */
        if (dbus->outbox.is_blocked && wait->fd >= 0)
                wait->events |= POLLOUT;
        limit_wait(wait, dbus->connect_us);
        limit_wait(wait, dbus->close_us);
        limit_wait(wait, dbus->missed_us);
        limit_wait(wait, dn__waiting_get_until(&dbus->waiting));
        if (dbus->outbox.until_us)
                limit_wait(wait, dbus->outbox.until_us);
        if (dbus->client)
                limit_wait(wait, dbus->client->ops->get_until(dbus->client));
        return !dn__dbus_has_to_send(dbus) && !dbus->connection.is_broken && !is_over(dbus) &&
               count_unreported(dbus) == 0;
}

static bool dbus_prepare(dn__source *source, dn__wait *wait)
{
        dn__dbus *dbus = DN__CONTAINER(source, dn__dbus, source);

        DN__AUTO_LOCK(&dbus->lock);
        return dbus->is_closed || prepare_open(dbus, wait);
}

static void dbus_dispatch(dn__source *source)
{
        dn__dbus *dbus = DN__CONTAINER(source, dn__dbus, source);

        connect_if_due(dbus);
        /* Received messages come first: someone is waiting for them. */
        receive(dbus);
        dn__dbus_handle_decided(dbus);
        send_pending(dbus);
        end_turn(dbus);
}

const dn__source_ops dn__dbus_source_ops = { dbus_prepare, dbus_dispatch };
