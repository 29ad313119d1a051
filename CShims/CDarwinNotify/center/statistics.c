/* The statistics of a center. */
#include "darwinnotify/statistics.h"

#include <errno.h>

#include "center/carriers.h"
#include "center/hub.h"
#include "center/topic.h"
#include "util/call.h"

static uint64_t n_names(dn__hub *hub)
{
        DN__HUB_HOLD(hub);

        return hub->topics.n_entries - (dn__topic_find(hub, &dn__name_bus) != NULL);
}

static uint64_t n_tables(dn__hub *hub)
{
        const dn__region *region = hub->region;

        return region && !dn__region_was_left(region);
}

static uint64_t n_uncounted_names(dn__hub *hub)
{
        uint64_t n = 0;

        if (!hub->scope)
                return 0;
        DN__HUB_HOLD(hub);
        for (dn__map_entry *entry = dn__map_next(&hub->topics, NULL); entry;
             entry = dn__map_next(&hub->topics, entry)) {
                const dn__topic *topic = DN__CONTAINER(entry, dn__topic, entry);

                n += topic->n_holds > 0 && !topic->slot && !topic->name.is_prefix &&
                     topic->name.reach == DN__REACH_BEYOND;
        }
        return n;
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
                [DN_STATISTIC_TABLES] = n_tables(hub),
                [DN_STATISTIC_NAMES_UNCOUNTED] = n_uncounted_names(hub),
        };

        if (statistic < DN_STATISTIC_OBSERVERS || statistic > DN_STATISTIC_NAMES_UNCOUNTED)
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
