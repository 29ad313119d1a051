/* All carriers of a hub, used as one. */
#include "center/carriers.h"

#include <errno.h>

int dn__carriers_start(dn__hub *hub, uint64_t *deadline_us)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < hub->n_carriers; i++)
                r = hub->carriers[i]->ops->start(hub->carriers[i], deadline_us);
        return r;
}

/* Combines the results of two carriers: nobody can be reached if neither reaches anybody. What one
 * has no room or memory for is lost to some. */
static int both(int a, int b)
{
        if (a == -ENOTCONN)
                return b;
        return a < 0 || b == -ENOTCONN ? a : b;
}

static int start_and_send(dn__carrier *carrier, const dn__post *post, uint64_t *deadline_us)
{
        int r = carrier->ops->start(carrier, deadline_us);

        return r < 0 ? r : carrier->ops->send(carrier, post);
}

int dn__carriers_send(dn__hub *hub, const dn__post *post, uint64_t *deadline_us)
{
        int r = -ENOTCONN;

        for (size_t i = 0; i < hub->n_carriers; i++)
                r = both(r, start_and_send(hub->carriers[i], post, deadline_us));
        if (hub->lacks_bus)
                atomic_store_explicit(&hub->is_untaken, true, memory_order_relaxed);
        return r;
}

int dn__carriers_watch(dn__hub *hub, const dn__name *name, dn__watches *ret_watches)
{
        dn__watches watches = { 0 };
        int r = 0;

        for (size_t i = 0; r == 0 && i < hub->n_carriers; i++)
                r = hub->carriers[i]->ops->watch(hub->carriers[i], name, &watches.each[i]);
        if (r == 0)
                *ret_watches = watches;
        else
                dn__carriers_unwatch(hub, &watches);
        return r;
}

int dn__carriers_await(dn__hub *hub, const dn__watches *watches, uint64_t *deadline_us)
{
        int r = -ENOTCONN;

        for (size_t i = 0; i < hub->n_carriers; i++)
                r = both(r, hub->carriers[i]->ops->await_watch(hub->carriers[i],
                                                               watches->each[i], deadline_us));
        return r;
}

bool dn__carriers_are_watching(const dn__hub *hub, const dn__watches *watches)
{
        for (size_t i = 0; i < hub->n_carriers; i++)
                if (watches->each[i])
                        return true;
        return false;
}

void dn__carriers_unwatch(dn__hub *hub, const dn__watches *watches)
{
        for (size_t i = 0; i < hub->n_carriers; i++)
                if (watches->each[i])
                        hub->carriers[i]->ops->unwatch(hub->carriers[i], watches->each[i]);
}

int dn__carriers_flush(dn__hub *hub, uint64_t deadline_us)
{
        int r, result = 0;

        for (size_t i = 0; i < hub->n_carriers; i++) {
                r = hub->carriers[i]->ops->flush(hub->carriers[i], deadline_us);
                if (r < 0)
                        result = r;
        }
        return result;
}

int dn__carriers_take_untaken(dn__hub *hub)
{
        int r, result = atomic_exchange(&hub->is_untaken, false) ? -ENOTCONN : 0;

        for (size_t i = 0; i < hub->n_carriers; i++) {
                r = hub->carriers[i]->ops->take_untaken(hub->carriers[i]);
                if (r < 0)
                        result = r;
        }
        return result;
}

void dn__carriers_linger(dn__hub *hub)
{
        for (size_t i = 0; i < hub->n_carriers; i++)
                hub->carriers[i]->ops->linger(hub->carriers[i]);
}

bool dn__carriers_are_connected(dn__hub *hub)
{
        for (size_t i = 0; i < hub->n_carriers; i++)
                if (hub->carriers[i]->ops->is_connected(hub->carriers[i]))
                        return true;
        return false;
}

dn__carrier_counts dn__carriers_get_counts(dn__hub *hub)
{
        dn__carrier_counts sum = { 0 }, counts;

        for (size_t i = 0; i < hub->n_carriers; i++) {
                counts = hub->carriers[i]->ops->get_counts(hub->carriers[i]);
                sum.n_sent += counts.n_sent;
                sum.n_waiting += counts.n_waiting;
                sum.n_received += counts.n_received;
                sum.n_ignored += counts.n_ignored;
                sum.n_connects += counts.n_connects;
                sum.n_losses += counts.n_losses;
        }
        return sum;
}

void dn__carriers_close(dn__hub *hub)
{
        /* The last one may destroy the hub. */
        size_t n = hub->n_carriers;

        for (size_t i = 0; i < n; i++)
                hub->carriers[i]->ops->close(hub->carriers[i]);
}

void dn__carriers_free(dn__hub *hub)
{
        for (size_t i = 0; i < hub->n_carriers; i++)
                hub->carriers[i]->ops->free(hub->carriers[i]);
}
