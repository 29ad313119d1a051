/* Sends posts to the bus, immediately or when it accepts them. */
#include "carrier/dbus/send.h"

#include <assert.h>
#include <errno.h>

#include "util/cleanup.h"

int dn__dbus_report(dn__dbus *dbus)
{
        return dn__connection_is_ready(&dbus->connection) ? 0 : -ENOTCONN;
}

bool dn__dbus_is_drained(dn__dbus *dbus)
{
        return dn__pending_is_empty(&dbus->pending) && dbus->outbox.n_posts == 0 &&
               (!dn__connection_is_ready(&dbus->connection) ||
                dn__connection_can_send(&dbus->connection));
}

/* --- Immediately ----------------------------------------------------------------------------- */

void dn__dbus_note_written(dn__dbus *dbus)
{
        dn__pending_post *written = dn__pending_first(&dbus->in_flight);

        if (written && dn__connection_can_send(&dbus->connection))
                dn__pending_take(&dbus->in_flight, written);
}

/* In a flood, posts gather until the end of a millisecond, so that one system call takes many to
 * the bus. Those whose observers have been woken through the table can wait: nobody but programs
 * without it hears of them by the signal. */
static bool is_gathering(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        dn__outbox *outbox = &dbus->outbox;

        if (!post->slot)
                return false;
        if (!outbox->until_us)
                outbox->until_us = dn__throttle_count(&dbus->flood, dn__clock_now_us());
        return outbox->until_us != 0;
}

bool dn__dbus_write(dn__dbus *dbus)
{
        dn__outbox *outbox = &dbus->outbox;

        if (!outbox->n_posts)
                return true;
        if (outbox->is_blocked || dbus->n_flushes || !dn__connection_can_send(&dbus->connection))
                return false;
        outbox->is_blocked = !dn__connection_write(&dbus->connection, outbox->bytes,
                                                   outbox->n_bytes);
        if (outbox->is_blocked) {
                dn__loop_wake(dbus->loop);
                return false;
        }
        dbus->counts.n_sent += outbox->n_posts;
        if (outbox->has_reserved)
                dbus->reserved_us = dn__clock_now_us();
        dn__outbox_clear(outbox);
        return true;
}

static bool is_bypassed(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        return dn__connection_is_bypassed(&dbus->connection) && dn__outbox_reserve(&dbus->outbox);
}

static int send_bypassing(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        dn__outbox *outbox = &dbus->outbox;

        if (!dn__outbox_add(outbox, dbus->wire, post) &&
            !(dn__dbus_write(dbus) && dn__outbox_add(outbox, dbus->wire, post)))
                return -EAGAIN;
        if (!is_gathering(dbus, post))
                (void)dn__dbus_write(dbus);
        return 0;
}

/* sd-bus queues what the socket does not accept: what it has not written would be lost with the
 * connection, so the post is remembered until then. */
static int send_by_sd_bus(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        int r;

        if (dbus->n_flushes)
                return -EAGAIN;
        dn__dbus_note_written(dbus);
        r = dn__connection_send_post(&dbus->connection, post);
        if (r < 0)
                return r;
        dbus->counts.n_sent++;
        if (post->name.is_reserved)
                dbus->reserved_us = dn__clock_now_us();
        /* Without memory to remember it, it is treated like data the bus had not read. */
        if (!dn__connection_can_send(&dbus->connection))
                (void)dn__pending_add(&dbus->in_flight, post);
        return 0;
}

/* Returns a negative errno if the post must wait. */
static int send_now(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        if (!dn__connection_can_send(&dbus->connection))
                return -EAGAIN;
        return is_bypassed(dbus) ? send_bypassing(dbus, post) : send_by_sd_bus(dbus, post);
}

/* --- Later ----------------------------------------------------------------------------------- */

void dn__dbus_take_back(dn__dbus *dbus)
{
        dn__pending_post *lost = dn__pending_first(&dbus->in_flight);

        if (!lost)
                return;
        (void)dn__pending_add_first(&dbus->pending, &lost->post);
        dn__pending_take(&dbus->in_flight, lost);
}

/* Returns until when a post must wait for others of a flood to merge with, or 0 for no wait. If
 * other posts are waiting for the bus anyway, it joins them. */
static uint64_t hold_until(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        if (!post->may_merge)
                return 0;
        if (!dn__pending_is_empty(&dbus->pending))
                return dbus->hold_us;
        return dn__throttle_count(&dbus->throttle, dn__clock_now_us());
}

static int send_later(dn__dbus *dbus, const dn__post *post, uint64_t hold_us)
        DN__REQUIRES(&dbus->lock)
{
        bool is_first = dn__pending_is_empty(&dbus->pending);
        int r;

        r = dn__pending_add(&dbus->pending, post);
        if (is_first || hold_us != dbus->hold_us) {
                dbus->hold_us = hold_us;
                dn__loop_wake(dbus->loop);
        }
        return r < 0 ? r : dn__dbus_report(dbus);
}

static int send_or_keep(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        uint64_t hold_us = hold_until(dbus, post);
        uint64_t until_us = dbus->outbox.until_us;
        int r = -EAGAIN;

        if (!hold_us && dn__pending_is_empty(&dbus->pending))
                r = send_now(dbus, post);
        /* The loop writes what the socket did not accept, once it does. */
        if (r < 0)
                return send_later(dbus, post, hold_us);
        if (dbus->outbox.until_us != until_us || !dn__connection_can_send(&dbus->connection))
                dn__loop_wake(dbus->loop);
        return 0;
}

int dn__dbus_send(dn__carrier *carrier, const dn__post *post)
{
        dn__dbus *dbus = dn__dbus_of(carrier);
        dn__post numbered = *post;
        int r;

        assert(post->name.reach != DN__REACH_PROCESS);
        if (!dbus->address.address)
                return -ENOTCONN;
        DN__HOLD(&dbus->lock);
        if (post->is_queued)
                numbered.body.number = dn__numbers_draw(&dbus->numbers, &post->name);
        r = send_or_keep(dbus, &numbered);
        if (r < 0 && r != -ENOTCONN)
                dbus->untaken = r;
        if (r < 0 && r != -ENOTCONN && post->is_queued)
                dn__numbers_take_back(&dbus->numbers, &post->name);
        return r;
}

bool dn__dbus_is_held(dn__dbus *dbus)
{
        return !dn__pending_is_empty(&dbus->pending) && dn__clock_now_us() < dbus->hold_us;
}

void dn__dbus_look_at_socket(dn__dbus *dbus)
{
        dbus->outbox.is_blocked = false;
        if (dbus->outbox.until_us && dn__clock_now_us() >= dbus->outbox.until_us)
                dbus->outbox.until_us = 0;
}

bool dn__dbus_has_to_send(dn__dbus *dbus)
{
        const dn__outbox *outbox = &dbus->outbox;

        if (outbox->is_blocked || dbus->n_flushes || !dn__connection_can_send(&dbus->connection))
                return false;
        if (outbox->n_posts && (!outbox->until_us || dbus->close_us != DN__NEVER))
                return true;
        return !dn__pending_is_empty(&dbus->pending) && !dn__dbus_is_held(dbus);
}

/* Returns whether all of them are written or in the outbox. */
static bool fill_outbox(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        dn__pending_post *first;

        if (dn__dbus_is_held(dbus))
                return true;
        while ((first = dn__pending_first(&dbus->pending))) {
                if (!dn__outbox_add(&dbus->outbox, dbus->wire, &first->post))
                        return false;
                dn__pending_take(&dbus->pending, first);
        }
        return true;
}

bool dn__dbus_send_pending(dn__dbus *dbus)
{
        dn__pending_post *first;
        bool is_all;

        if (!dn__dbus_has_to_send(dbus))
                return false;
        if (dbus->outbox.n_posts || is_bypassed(dbus)) {
                is_all = fill_outbox(dbus);
                return dn__dbus_write(dbus) && !is_all;
        }
        first = dn__pending_first(&dbus->pending);
        /* If this fails on a connection that could send, the next step finds it broken. */
        if (!first || send_by_sd_bus(dbus, &first->post) < 0)
                return false;
        dn__pending_take(&dbus->pending, first);
        return true;
}
