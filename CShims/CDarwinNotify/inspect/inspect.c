/* dn_list_names(). */
#include "darwinnotify/inspect.h"

#include <errno.h>

#include "bus/address.h"
#include "table/census.h"
#include "table/region.h"
#include "util/call.h"
#include "util/cleanup.h"

/* Mark variables for cleanup. */
#define DEINITS_ADDRESS DN__CLEANUP(dn__address_deinit)
#define DEINITS_CENSUS DN__CLEANUP(dn__census_deinit)

/* Uses the table only if there is one. */
static int take_census(const char *key, dn__census *ret_census)
{
        dn__region *region;
        int r;

        r = dn__region_find(key, NULL, false, &region);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r == -ENOMEM ? r : -EACCES;
        r = dn__census_take(region, ret_census);
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
        DN__CALL();
        dn__census census DEINITS_CENSUS = { 0 };
        dn__address address DEINITS_ADDRESS = { 0 };
        int r;

        if (!each || (bus && !*bus))
                return -EINVAL;
        r = dn__address_resolve(bus, &address);
        if (r == 0)
                r = take_census(address.scope, &census);
        return r < 0 ? r : list(&census, each, context);
}
