/* The counters of a center. */
#include "darwinnotify/statistics.h"

#include <errno.h>

#include "center/engine.h"

static uint64_t n_names(dn__engine *engine)
{
        uint64_t n;

        dn__lock_acquire(&engine->lock);
        n = engine->topics.n_entries;
        dn__lock_release(&engine->lock);
        return n;
}

static int read_statistic(dn__engine *engine, int statistic, uint64_t *ret_value)
{
        dn__service_counts counts = { 0 };
        uint64_t values[] = {
                [DN_STATISTIC_OBSERVERS] = atomic_load(&engine->n_observers),
                [DN_STATISTIC_NAMES] = n_names(engine),
                [DN_STATISTIC_CONNECTS] = 0,
        };

        if (engine->service)
                counts = dn__service_get_counts(engine->service);
        values[DN_STATISTIC_NAMES_WAITING] = counts.n_waiting;
        values[DN_STATISTIC_SIGNALS_SENT] = counts.n_sent;
        values[DN_STATISTIC_SIGNALS_RECEIVED] = counts.n_received;
        values[DN_STATISTIC_SIGNALS_IGNORED] = counts.n_ignored;
        values[DN_STATISTIC_CONNECTS] = counts.n_connects;
        if (statistic < DN_STATISTIC_OBSERVERS || statistic > DN_STATISTIC_CONNECTS)
                return -EINVAL;
        *ret_value = values[statistic];
        return 0;
}

int dn_center_get_statistic(dn_center *center, int statistic, uint64_t *ret_value)
{
        dn__engine *engine;
        int r;

        if (!center || !ret_value)
                return -EINVAL;
        engine = dn__engine_get(center);
        if (!engine)
                return -ENOMEM;
        r = read_statistic(engine, statistic, ret_value);
        dn__engine_unref(engine);
        return r;
}
