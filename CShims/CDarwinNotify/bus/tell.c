/* Reports what happens to the connection, if DARWIN_NOTIFY_DEBUG asks for it. */
#include "bus/tell.h"

#include <stdio.h>

#include "util/debug.h"

/* A copy of what is to be reported. */
typedef struct tale {
        bool is_found;
        bool is_lost;
        bool is_failure;
        int reason;
        unsigned wait_ms;
        char name[64]; /* of the connection; empty: it is lost already */
} tale;

void dn__dbus_note_failure(dn__dbus *dbus, int reason)
{
        dbus->failure = (dn__dbus_failure){ true, reason };
}

static tale take_tale(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        const dn__connection *connection = &dbus->connection;
        tale tale = {
                .is_found = dbus->counts.n_connects != dbus->told.n_connects,
                .is_lost = dbus->counts.n_losses != dbus->told.n_losses,
                .is_failure = dbus->failure.has_happened,
                .reason = dbus->failure.reason,
        };
        uint64_t now_us = dn__clock_now_us();

        if (connection->unique_name)
                (void)snprintf(tale.name, sizeof(tale.name), " as %s", connection->unique_name);
        if (dbus->connect_us != DN__NEVER && dbus->connect_us > now_us)
                tale.wait_ms = (unsigned)((dbus->connect_us - now_us) / DN__US_PER_MS);
        dbus->told = dbus->counts;
        dbus->failure.has_happened = false;
        return tale;
}

void dn__dbus_tell(dn__dbus *dbus)
{
        const char *center = dbus->wire->center, *address = dbus->address.address;
        tale tale;

        if (!dn__debug_is_on())
                return;
        dn__lock_acquire(&dbus->lock);
        tale = take_tale(dbus);
        dn__lock_release(&dbus->lock);
        if (tale.is_found)
                dn__debug_say(0, "%s center: found the bus %s%s", center, address, tale.name);
        if (tale.is_failure)
                dn__debug_say(tale.reason, "%s center: %s the bus %s, next attempt in %u ms",
                              center, tale.is_lost ? "lost" : "cannot reach", address,
                              tale.wait_ms);
}
