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
        return dn__pending_is_empty(&dbus->pending) &&
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

int dn__dbus_send_now(dn__dbus *dbus, const dn__post *post)
{
        int r;

        if (dbus->n_flushes || !dn__connection_can_send(&dbus->connection))
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
        int r = -EAGAIN;

        if (!hold_us && dn__pending_is_empty(&dbus->pending))
                r = dn__dbus_send_now(dbus, post);
        /* The loop writes what the socket did not accept, once it does. */
        if (r < 0)
                return send_later(dbus, post, hold_us);
        if (!dn__connection_can_send(&dbus->connection))
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
        if (r < 0 && r != -ENOTCONN && post->is_queued)
                dn__numbers_take_back(&dbus->numbers, &post->name);
        return r;
}

bool dn__dbus_is_held(dn__dbus *dbus)
{
        return !dn__pending_is_empty(&dbus->pending) && dn__clock_now_us() < dbus->hold_us;
}

bool dn__dbus_has_to_send(dn__dbus *dbus)
{
        return !dn__pending_is_empty(&dbus->pending) && !dbus->n_flushes &&
               !dn__dbus_is_held(dbus) && dn__connection_can_send(&dbus->connection);
}

bool dn__dbus_send_pending(dn__dbus *dbus)
{
        dn__pending_post *first;

        if (!dn__dbus_has_to_send(dbus))
                return false;
        first = dn__pending_first(&dbus->pending);
        /* If this fails on a connection that could send, the next step finds it broken. */
        if (dn__dbus_send_now(dbus, &first->post) < 0)
                return false;
        dn__pending_take(&dbus->pending, first);
        return true;
}
