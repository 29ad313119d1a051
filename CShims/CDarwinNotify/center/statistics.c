/* The statistics of a center. */
#include "darwinnotify/statistics.h"

#include <errno.h>

#include "delivery/hub.h"
#include "delivery/topic.h"
#include "util/gate.h"

static uint64_t count_names(dn__hub *hub)
{
        uint64_t n = 0;

        DN__HUB_AUTO_LOCK(hub);
        DN__MAP_EACH(const dn__topic, topic, &hub->topics, entry)
                n += !topic->name.is_private;
        return n;
}

static uint64_t count_uncounted_names(dn__hub *hub)
{
        uint64_t n = 0;

        if (!hub->center->ops->has_table)
                return 0;
        DN__HUB_AUTO_LOCK(hub);
        DN__MAP_EACH(const dn__topic, topic, &hub->topics, entry)
                n += topic->n_holds > 0 && !topic->slot && !topic->name.is_prefix &&
                     topic->name.reach == DN__REACH_BEYOND;
        return n;
}

static int read_statistic(dn__hub *hub, int statistic, uint64_t *ret_value)
{
        dn__carrier_status status = dn__carrier_get_status(hub->bus);
        const dn__region *region = atomic_load(&hub->member.region);
        bool has_table = dn__region_has_entry(region) && !dn__region_is_stale(region);
        uint64_t values[] = {
                [DN_STATISTIC_OBSERVERS] = atomic_load(&hub->n_observers),
                [DN_STATISTIC_NAMES] = count_names(hub),
                [DN_STATISTIC_NAMES_WAITING] = status.n_pending,
                [DN_STATISTIC_SIGNALS_SENT] = status.n_sent,
                [DN_STATISTIC_SIGNALS_RECEIVED] = status.n_received,
                [DN_STATISTIC_SIGNALS_IGNORED] = status.n_ignored,
                [DN_STATISTIC_CONNECTS] = status.n_connects,
                [DN_STATISTIC_TABLES] = has_table,
                [DN_STATISTIC_NAMES_UNCOUNTED] =
                        statistic == DN_STATISTIC_NAMES_UNCOUNTED ? count_uncounted_names(hub) : 0,
                [DN_STATISTIC_TABLE_ID] = has_table ? region->id : 0,
        };

        if (statistic < DN_STATISTIC_OBSERVERS || statistic > DN_STATISTIC_TABLE_ID)
                return -EINVAL;
        *ret_value = values[statistic];
        return 0;
}

int dn_center_get_statistic(dn_center *center, int statistic, uint64_t *ret_value)
{
        DN__GATE();
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r;

        r = ret_value ? dn__hub_get(center, &hub) : -EINVAL;
        return r < 0 ? r : read_statistic(hub, statistic, ret_value);
}
