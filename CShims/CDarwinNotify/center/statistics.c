/* The statistics of a center. */
#include "darwinnotify/statistics.h"

#include <errno.h>

#include "center/carriers.h"
#include "center/hub.h"
#include "util/call.h"

static uint64_t n_names(dn__hub *hub)
{
        DN__HUB_HOLD(hub);

        return hub->topics.n_entries;
}

static int read_statistic(dn__hub *hub, int statistic, uint64_t *ret_value)
{
        dn__carrier_counts counts = dn__carriers_get_counts(hub);
        uint64_t values[] = {
                [DN_STATISTIC_OBSERVERS] = atomic_load(&hub->n_observers),
                [DN_STATISTIC_NAMES] = n_names(hub),
                [DN_STATISTIC_NAMES_WAITING] = counts.n_waiting,
                [DN_STATISTIC_SIGNALS_SENT] = counts.n_sent,
                [DN_STATISTIC_SIGNALS_RECEIVED] = counts.n_received,
                [DN_STATISTIC_SIGNALS_IGNORED] = counts.n_ignored,
                [DN_STATISTIC_CONNECTS] = counts.n_connects,
        };

        if (statistic < DN_STATISTIC_OBSERVERS || statistic > DN_STATISTIC_CONNECTS)
                return -EINVAL;
        *ret_value = values[statistic];
        return 0;
}

int dn_center_get_statistic(dn_center *center, int statistic, uint64_t *ret_value)
{
        DN__CALL();
        dn__hub *hub;
        int r;

        if (!center || !ret_value)
                return -EINVAL;
        hub = dn__hub_get(center);
        if (!hub)
                return -ENOMEM;
        r = read_statistic(hub, statistic, ret_value);
        dn__hub_unref(hub);
        return r;
}
