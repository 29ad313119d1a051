/* Waits until the bus has read what was sent. */
#include <errno.h>

#include "bus/state.h"
#include "util/cleanup.h"

/* Receivers ask the bus for the user behind a reserved name's post; it knows none once the
 * connection is closed. */
#define QUERY_TIMEOUT_US (100 * DN__US_PER_MS)

/* Data accepted by the socket is not yet safe: if the bus finds the connection closed with unread
 * data from it, it discards what we sent. The kernel knows how much the bus has read but does not
 * notify us, so this polls, often at first, then less often. */
#define LOOK_MIN_US 50
#define LOOK_MAX_US (5 * DN__US_PER_MS)

typedef struct flush {
        bool may_wait;
        bool is_drained; /* nothing was waiting in the process at some point */
        uint64_t look_us;
} flush;

/* The bus reads nothing more from the connection, though the loop may not have noticed. */
static bool is_gone(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        return dbus->connection.was_unread || !dn__connection_is_intact(&dbus->connection);
}

/* Once nothing waits in the process, later posts are not waited for: otherwise they could keep the
 * socket from ever draining. */
static bool is_flushed(dn__dbus *dbus, flush *flush) DN__REQUIRES(&dbus->lock)
{
        bool is_read;

        (void)dn__dbus_write(dbus);
        if (!flush->may_wait)
                return dn__dbus_is_drained(dbus);
        if (!flush->is_drained && dn__dbus_is_drained(dbus)) {
                flush->is_drained = true;
                dbus->n_flushes++;
        }
        if (!flush->is_drained)
                return false;
        /* Before asking the kernel, which would report on a file of the host. */
        if (is_gone(dbus))
                return true;
        is_read = dn__dbus_note_read(dbus);
        return is_read || !dn__connection_is_ready(&dbus->connection) ||
               dbus->connection.was_unread;
}

static void wait_a_moment(dn__dbus *dbus, flush *flush, uint64_t deadline_us)
        DN__REQUIRES(&dbus->lock)
{
        uint64_t until_us = deadline_us;

        if (flush->is_drained) {
                until_us = dn__clock_after_us(flush->look_us);
                flush->look_us = flush->look_us < LOOK_MAX_US ? 2 * flush->look_us : LOOK_MAX_US;
        } else {
                dn__loop_wake(dbus->loop);
        }
        (void)dn__condition_wait(&dbus->changed, &dbus->lock,
                                 dn__clock_earlier(until_us, deadline_us));
}

int dn__dbus_flush(dn__carrier *carrier, uint64_t deadline_us)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        flush flush = { .look_us = LOOK_MIN_US };
        int r = 0;

        flush.may_wait = dn__clock_now_us() < deadline_us && !dn__loop_is_current(dbus->loop);
        dn__lock_acquire(&dbus->lock);
        while (!is_flushed(dbus, &flush)) {
                /* A bus being connected to may accept them soon; an absent one will not. */
                if (!dn__connection_is_open(&dbus->connection)) {
                        dn__dbus_seek(dbus);
                        r = -ENOTCONN;
                } else if (!flush.may_wait || dn__clock_now_us() >= deadline_us) {
                        r = -ETIMEDOUT;
                }
                if (r < 0)
                        break;
                wait_a_moment(dbus, &flush, deadline_us);
        }
        if (flush.is_drained && --dbus->n_flushes == 0)
                dn__loop_wake(dbus->loop);
        /* Another flush may wait for posts that could not be written meanwhile. */
        dn__condition_broadcast(&dbus->changed);
        dn__lock_release(&dbus->lock);
        return r;
}

int dn__dbus_take_loss(dn__carrier *carrier)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        int r;

        DN__AUTO_LOCK(&dbus->lock);
        if (dn__connection_is_ready(&dbus->connection) && is_gone(dbus))
                dn__dbus_note_unread(dbus);
        r = dbus->loss;
        dbus->loss = 0;
        return r;
}

void dn__dbus_remain_known(dn__carrier *carrier)
{
        dn__dbus *dbus = DN__CONTAINER(carrier, dn__dbus, carrier);
        uint64_t until_us;

        dn__lock_acquire(&dbus->lock);
        until_us = dbus->reserved_us ? dbus->reserved_us + QUERY_TIMEOUT_US : 0;
        dn__lock_release(&dbus->lock);
        if (until_us)
                dn__clock_sleep_until(until_us);
}
