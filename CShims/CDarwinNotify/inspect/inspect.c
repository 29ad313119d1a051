/* dn_list_names(). */
#include "darwinnotify/inspect.h"

#include <errno.h>

#include "bus/address.h"
#include "table/census.h"
#include "table/file.h"
#include "table/region.h"
#include "util/call.h"
#include "util/cleanup.h"

#define DEINITS_ADDRESS DN__CLEANUP(dn__address_deinit)

/* Uses the table only if there is one. */
int dn_list_names(const char *bus, int (*each)(const dn_name_record *record, void *context),
                  void *context)
{
        DN__CALL();
        dn__address address DEINITS_ADDRESS = { 0 };
        dn__region *region;
        int r;

        if (!each || (bus && !*bus))
                return -EINVAL;
        r = dn__address_resolve(bus, &address);
        if (r < 0)
                return r;
        r = dn__region_find(address.scope, NULL, false, &region);
        if (r == -ENOENT && dn__file_has_place(address.scope))
                return 0;
        if (r < 0)
                return r == -ENOMEM ? r : -EACCES;
        r = dn__census_take(region, each, context);
        (void)dn__region_close(region);
        return r < 0 ? -EINVAL : r;
}
