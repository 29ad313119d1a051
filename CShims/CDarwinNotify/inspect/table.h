/* Reads a table through its file. */
#pragma once

#include "darwinnotify/inspect.h"

/* Reads a table as dn_read_table() does. The descriptor is borrowed. Returns what a callback
 * returned last, if positive; -EINVAL if that was negative; -ENODATA if the file is not a table;
 * -ENOMEM; or 0. */
int dn__table_read(int fd, const dn_table_reader *reader);
