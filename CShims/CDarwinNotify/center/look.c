/* When a process looks for its table:
 *
 *   - before a post or a registration, if the last look was 5 seconds ago;
 *   - before each post while it has no table: it may have looked while the file was gone, and
 *     without a table nothing tells it that the table is stale;
 *   - before a registration, if it has no entry or its table is stale;
 *   - when a bus is found, or a signal comes from another table;
 *   - when it is rung in a stale table, or finds the table stale after a post (darwin.c);
 *   - every 5 seconds while it has an entry and no bus. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "center/table.h"
#include "direct/direct.h"
#include "util/clock.h"
#include "util/debug.h"

/* When to look again without a reason: before a post or a registration, or without a bus. */
#define LOOK_MS 5000

/* When to look again for the tables of signals. */
#define SOON_MS 100

/* The clock is coarse, and costs a post little. */
static uint64_t get_age_ms(const dn__hub *hub)
{
        return dn__clock_coarse_ms() - atomic_load(&hub->member.look_ms);
}

void dn__table_look_if_due(dn__hub *hub, bool wants_entry)
{
        const dn__region *region = atomic_load(&hub->member.region);
        bool is_enough = region && (!wants_entry || (dn__region_has_entry(region) &&
                                                     !dn__region_is_stale(region)));

        if (!is_enough || get_age_ms(hub) >= LOOK_MS)
                dn__table_look(hub, wants_entry);
}

void dn__table_look_soon(dn__hub *hub)
{
        if (get_age_ms(hub) >= SOON_MS)
                dn__table_look(hub, false);
        else
                atomic_store(&hub->member.is_look_due, true);
}

/* --- The source of the service thread -------------------------------------------------------- */

/* With a bus, an idle process never wakes up. */
static bool prepare_table(dn__source *source, dn__wait *wait)
{
        dn__hub *hub = DN__CONTAINER(source, dn__hub, member.source);
        uint64_t look_us = atomic_load(&hub->member.look_ms) * DN__US_PER_MS;
        uint64_t idle_us = look_us + LOOK_MS * DN__US_PER_MS;
        bool is_waiting = dn__region_has_entry(atomic_load(&hub->member.region)) ||
                          atomic_load(&hub->member.failed_us);

        wait->until_us = dn__table_get_retry_us(hub);
        if (is_waiting && !dn__carrier_get_status(hub->bus).is_connected)
                wait->until_us = dn__clock_earlier(wait->until_us, idle_us);
        if (atomic_load(&hub->member.is_look_due))
                wait->until_us = dn__clock_earlier(wait->until_us,
                                                   look_us + SOON_MS * DN__US_PER_MS);
        return true;
}

static void dispatch_table(dn__source *source)
{
        dn__hub *hub = DN__CONTAINER(source, dn__hub, member.source);
        dn__wait wait;

        (void)prepare_table(source, &wait);
        if (wait.until_us <= dn__clock_now_us())
                dn__table_look(hub, false);
}

int dn__table_begin(dn__hub *hub, const char *scope)
{
        static const dn__source_ops ops = { prepare_table, dispatch_table };

        if (!dn__direct_is_allowed()) {
                dn__debug_say(0, "shared futexes are refused; using D-Bus only");
                return 0;
        }
        hub->member.scope = strdup(scope);
        if (!hub->member.scope)
                return -ENOMEM;
        hub->member.user = geteuid();
        hub->member.source.ops = &ops;
        dn__loop_add(hub->loop, &hub->member.source);
        return 0;
}
