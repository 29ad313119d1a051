/* The public functions that inspect a table. */
#include "darwinnotify/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/table.h"
#include "post/address.h"
#include "table/file.h"
#include "util/cleanup.h"
#include "util/gate.h"
#include "util/reserved.h"

/* Returns a descriptor of the table of a bus, or a negative errno: -ENOENT if there is none yet. */
static int open_table(const char *bus, char ret_path[PATH_MAX])
{
        dn__address address DN__CLEANUP(dn__address_deinit) = { 0 };
        int r;

        if (bus && !*bus)
                return -EINVAL;
        r = dn__address_resolve(bus, &address);
        if (r < 0)
                return r;
        r = dn__file_find(address.scope, NULL, ret_path);
        if (r == -ENOENT && dn__file_has_directory(address.scope))
                return r;
        return r >= 0 || r == -ENOMEM || r == -EMFILE || r == -ENFILE ? r : -EACCES;
}

int dn_find_table(const char *bus, char **ret_path)
{
        DN__GATE();
        int fd DN__CLOSES = -1;
        char path[PATH_MAX], *copy;

        if (!ret_path)
                return -EINVAL;
        fd = open_table(bus, path);
        if (fd < 0)
                return fd;
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        *ret_path = copy;
        return DN__TAKE_DESCRIPTOR(fd);
}

int dn_read_table(int fd, const dn_table_reader *reader)
{
        DN__GATE();
        int r;

        if (fd < 0 || !reader || !dn__reserved_is_zero(reader->reserved))
                return -EINVAL;
        r = dn__table_read(fd, reader);
        return r == -ENODATA ? -EINVAL : r;
}

/* Uses the table only if there is one. */
int dn_list_names(const char *bus, int (*each)(const dn_name_record *record, void *context),
                  void *context)
{
        DN__GATE();
        dn_table_reader reader = { .name = each, .context = context };
        int fd DN__CLOSES = -1;
        int r;
        char path[PATH_MAX];

        if (!each)
                return -EINVAL;
        fd = open_table(bus, path);
        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        r = dn__table_read(fd, &reader);
        return r == -ENODATA ? 0 : r;
}
