/* The public functions that look at a bus. */
#include "darwinnotify/inspect.h"

#include <errno.h>
#include <stdbool.h>

#include "bus/address.h"
#include "bus/monitor.h"
#include "shm/census.h"
#include "shm/region.h"

/* Finds the bus. Returns 0, -EINVAL, -ENOMEM, or -ENOTCONN if there is none to look for. */
static int resolve(const char *bus, dn__address *ret_address)
{
        dn__address address;
        int r;

        if (bus && !*bus)
                return -EINVAL;
        r = dn__address_resolve(bus, &address);
        if (r < 0)
                return r;
        if (!address.address)
                return -ENOTCONN;
        *ret_address = address;
        return 0;
}

int dn_watch_posts(const char *bus, const char *prefix, const dn_watcher *watcher)
{
        dn__address address;
        int r;

        if (!watcher || !watcher->post)
                return -EINVAL;
        r = resolve(bus, &address);
        if (r < 0)
                return r;
        r = dn__monitor_run(&address, prefix ? prefix : "", watcher);
        dn__address_deinit(&address);
        return r;
}

/* Opens the table for as long as it takes. A table that was not there before is not there
 * afterwards. */
static int take_census(const char *key, dn__census *ret_census)
{
        dn__region *region;
        int r;

        r = dn__region_open(key, &region);
        if (r < 0)
                return r == -ENOMEM ? r : -EACCES;
        r = dn__census_take(region, ret_census);
        dn__region_remove_if_last(region);
        (void)dn__region_close(region);
        return r;
}

static int list(const dn__census *census, int (*each)(const dn_name_record *, void *),
                void *context)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < census->n_names; i++) {
                const dn__census_name *name = &census->names[i];
                dn_name_record record = {
                        .name = name->name,
                        .generation = name->generation,
                        .state = name->state,
                        .n_holders = name->n_holders,
                        .pids = name->pids,
                };

                r = each(&record, context);
        }
        return r < 0 ? -EINVAL : r;
}

int dn_list_names(const char *bus, int (*each)(const dn_name_record *record, void *context),
                  void *context)
{
        dn__census census;
        dn__address address;
        int r;

        if (!each)
                return -EINVAL;
        r = resolve(bus, &address);
        if (r < 0)
                return r;
        r = take_census(address.address, &census);
        dn__address_deinit(&address);
        if (r < 0)
                return r;
        r = list(&census, each, context);
        dn__census_deinit(&census);
        return r;
}
