/* Lists the names in a table that living processes hold. */
#pragma once

#include "darwinnotify/inspect.h"
#include "table/region.h"

/* Scans all slots without a lock: each name is as it was at some moment during the scan. Slots that
 * this library would not write are skipped. Returns what the callback returned last, or 0. */
int dn__census_take(const dn__region *region,
                    int (*each)(const dn_name_record *record, void *context), void *context);
