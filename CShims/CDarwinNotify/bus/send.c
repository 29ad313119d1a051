/* Sends posts to the bus, immediately or when it accepts them. */
#include "bus/state.h"

#include <assert.h>
#include <errno.h>

#include "darwinnotify/error.h"
#include "util/cleanup.h"

int dn__dbus_report(dn__dbus *dbus)
{
        return dn__connection_is_ready(&dbus->connection) ? 0 : DN_NOT_CONNECTED;
}

bool dn__dbus_is_drained(dn__dbus *dbus)
{
        return dbus->pending.n_posts == 0 && dbus->outbox.n_posts == 0 &&
               (!dn__connection_is_ready(&dbus->connection) ||
                dn__connection_can_send(&dbus->connection));
}

/* --- The outbox ------------------------------------------------------------------------------ */

/* The serials of sd-bus start at 1. */
#define FIRST_SERIAL (UINT32_C(1) << 31)

/* Returns false if there is no room. */
static bool add_to_outbox(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        dn__outbox *outbox = &dbus->outbox;

        if (DN__OUTBOX_BYTES - outbox->n_bytes < DN__WIRE_POST_BYTES)
                return false;
        outbox->n_bytes += dbus->wire->write(post, dn__rules_get_path(&dbus->rules, post),
                                             FIRST_SERIAL | outbox->n_added++,
                                             outbox->bytes + outbox->n_bytes);
        outbox->n_posts++;
        outbox->has_reserved = outbox->has_reserved || post->name.is_reserved;
        return true;
}

/* --- Immediately ----------------------------------------------------------------------------- */

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
        outbox->n_bytes = 0;
        outbox->n_posts = 0;
        outbox->has_reserved = false;
        return true;
}

/* In a flood, posts gather until the end of a millisecond, so that one system call takes many to
 * the bus. Processes that share the table have been woken already. */
static int send_by_outbox(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        dn__outbox *outbox = &dbus->outbox;
        bool may_gather = post->region_id;

        if (!add_to_outbox(dbus, post) && !(dn__dbus_write(dbus) && add_to_outbox(dbus, post)))
                return -EAGAIN;
        if (may_gather && !outbox->until_us) {
                outbox->until_us = dn__throttle_count(&dbus->flood, dn__clock_now_us());
                if (outbox->until_us)
                        dn__loop_wake(dbus->loop);
        }
        if (!may_gather || !outbox->until_us)
                (void)dn__dbus_write(dbus);
        return 0;
}

/* sd-bus queues what the socket does not accept. If the connection is lost first, the post counts
 * as sent but not read. */
static int send_by_sd_bus(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int r;

        if (dbus->n_flushes)
                return -EAGAIN;
        r = dn__wire_make_post(dbus->wire, dbus->connection.bus, post,
                               dn__rules_get_path(&dbus->rules, post), &message);
        if (r == 0)
                r = dn__connection_send(&dbus->connection, message, NULL);
        if (r < 0) {
                dbus->connection.is_broken = true;
                return r;
        }
        dbus->counts.n_sent++;
        if (post->name.is_reserved)
                dbus->reserved_us = dn__clock_now_us();
        if (!dn__connection_can_send(&dbus->connection))
                dn__loop_wake(dbus->loop);
        return 0;
}

/* --- What the bus has read ------------------------------------------------------------------- */

bool dn__dbus_note_read(dn__dbus *dbus)
{
        bool is_read = dn__connection_is_read(&dbus->connection);

        if (is_read && dn__connection_can_send(&dbus->connection))
                dbus->n_read = dbus->counts.n_sent;
        return is_read;
}

void dn__dbus_note_unread(dn__dbus *dbus)
{
        if (dbus->n_read != dbus->counts.n_sent)
                dbus->loss = -ENOTCONN;
        dbus->n_read = dbus->counts.n_sent;
}

/* --- Later ----------------------------------------------------------------------------------- */

static int send_later(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        bool is_first = dbus->pending.n_posts == 0;
        int r;

        if (!dn__connection_is_open(&dbus->connection))
                dn__dbus_seek(dbus);
        r = dn__pending_add(&dbus->pending, post);
        if (is_first)
                dn__loop_wake(dbus->loop);
        return r < 0 ? r : dn__dbus_report(dbus);
}

/* The loop writes what the socket did not accept, once it can. */
static int send_or_keep(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        int r;

        if (dbus->pending.n_posts > 0 || !dn__connection_can_send(&dbus->connection))
                return send_later(dbus, post);
        r = dbus->connection.takes_whole && dbus->wire->write ? send_by_outbox(dbus, post)
                                                              : send_by_sd_bus(dbus, post);
        return r < 0 ? send_later(dbus, post) : 0;
}

/* Receivers see from the number whether posts before it are missing. */
static int send_numbered(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        uint64_t *last = dn__numbers_get_last(&dbus->numbers, &post->name);
        dn__post numbered = *post;
        int r;

        numbered.body.number = last ? *last + 1 : 0;
        r = send_or_keep(dbus, &numbered);
        if (r >= 0 && last)
                ++*last;
        return r;
}

int dn__dbus_post(dn__carrier *carrier, dn__post *post)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        uint64_t deadline_us = 0;
        int r = 0;

        assert(post->name.reach != DN__REACH_PROCESS);
        if (!atomic_load(&dbus->is_tried))
                r = dn__dbus_begin(dbus, &deadline_us);
        DN__AUTO_LOCK(&dbus->lock);
        if (r >= 0) {
                if (!dbus->rules.is_native)
                        dn__rules_note_post(&dbus->rules);
                r = post->is_queued ? send_numbered(dbus, post) : send_or_keep(dbus, post);
        }
        if (r < 0)
                dbus->loss = r;
        return r;
}

bool dn__dbus_has_to_send(dn__dbus *dbus)
{
        const dn__outbox *outbox = &dbus->outbox;

        if (outbox->is_blocked || dbus->n_flushes || !dn__connection_can_send(&dbus->connection))
                return false;
        if (outbox->n_posts && (!outbox->until_us || dbus->close_us != DN__NEVER))
                return true;
        return dbus->pending.n_posts > 0;
}

/* Returns whether all of them are written or in the outbox. */
static bool fill_outbox(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        dn__pending_post *first;

        while ((first = dn__pending_first(&dbus->pending))) {
                if (!add_to_outbox(dbus, &first->post))
                        return false;
                dn__pending_take(&dbus->pending, first);
                dn__pending_post_free(first); /* a post that fits has no user info */
        }
        return true;
}

bool dn__dbus_send_pending(dn__dbus *dbus, dn__pending_post **ret_sent)
{
        dn__pending_post *first;
        bool is_all;

        if (!dn__dbus_has_to_send(dbus))
                return false;
        if (dbus->outbox.n_posts || (dbus->connection.takes_whole && dbus->wire->write)) {
                is_all = fill_outbox(dbus);
                return dn__dbus_write(dbus) && !is_all;
        }
        first = dn__pending_first(&dbus->pending);
        /* If this fails on a connection that could send, the next step finds it broken. */
        if (!first || send_by_sd_bus(dbus, &first->post) < 0)
                return false;
        dn__pending_take(&dbus->pending, first);
        *ret_sent = first;
        return true;
}
