/* Selects the bus of a center. */
#include "bus/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bus/scope.h"
#include "util/debug.h"
#include "util/text.h"

#define SYSTEM_BUS "unix:path=/run/dbus/system_bus_socket"

static int unix_address(const char *directory, char **ret_address)
{
        size_t n_bytes;
        FILE *stream = open_memstream(ret_address, &n_bytes);
        bool is_complete;

        if (!stream)
                return -ENOMEM;
        (void)fputs("unix:path=", stream);
        dn__scope_escape(stream, directory);
        (void)fputs("/bus", stream);
        is_complete = !ferror(stream);
        if (fclose(stream) == 0 && is_complete)
                return 0;
        free(*ret_address);
        *ret_address = NULL;
        return -ENOMEM;
}

/* Copies an address without the servers' GUIDs: they change when the bus restarts, but processes
 * using this address must still meet. */
static int copy(const char *address, char **ret_address)
{
        static const char guid[] = ",guid=";
        char *copied = strdup(address), *found;

        if (!copied)
                return -ENOMEM;
        while ((found = strstr(copied, guid))) {
                size_t n_bytes = sizeof(guid) - 1 + strcspn(found + sizeof(guid) - 1, ",;");

                memmove(found, found + n_bytes, strlen(found + n_bytes) + 1);
        }
        *ret_address = copied;
        return 0;
}

/* A library must not start programs, as these transports would. */
static bool starts_a_program(const char *address)
{
        for (const char *entry = address; entry; entry = strchr(entry, ';')) {
                entry += *entry == ';';
                if (dn__text_begins_with(entry, "unixexec:") ||
                    dn__text_begins_with(entry, "autolaunch:") ||
                    dn__text_begins_with(entry, "x-machine-"))
                        return true;
        }
        return false;
}

static bool is_own_directory(const char *path)
{
        struct stat status;

        return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* Programs started outside the session, for example by cron, lack the variables but belong to
 * it. */
static int resolve_session(char **ret_address)
{
        const char *address = secure_getenv("DBUS_SESSION_BUS_ADDRESS");
        const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
        char of_user[64];

        if (address && *address)
                return starts_a_program(address) ? 0 : copy(address, ret_address);
        if (runtime && *runtime)
                return unix_address(runtime, ret_address);
        (void)snprintf(of_user, sizeof(of_user), "/run/user/%lu", (unsigned long)geteuid());
        return is_own_directory(of_user) ? unix_address(of_user, ret_address) : 0;
}

/* Resolves the address to connect to, and the scope name to use if there is none. */
static int resolve(const char *bus, dn__address *address, const char **ret_nothing)
{
        const char *system = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");

        *ret_nothing = "none";
        address->is_none = strcmp(bus, "none") == 0;
        if (address->is_none)
                return 0;
        if (strcmp(bus, "session") == 0) {
                *ret_nothing = "session";
                return resolve_session(&address->address);
        }
        address->is_shared = strcmp(bus, "system") == 0;
        if (address->is_shared)
                return copy(system ? system : SYSTEM_BUS, &address->address);
        *ret_nothing = bus;
        return starts_a_program(bus) ? 0 : copy(bus, &address->address);
}

/* Returns whether an entry is "transport:key=value,...". */
static bool is_entry(const char *entry, size_t n_bytes)
{
        const char *end = entry + n_bytes, *pair = memchr(entry, ':', n_bytes);

        if (!pair || pair == entry)
                return false;
        while (pair++ < end) {
                size_t n_pair = strcspn(pair, ",;");

                if (n_pair && !memchr(pair, '=', n_pair))
                        return false;
                pair += n_pair;
        }
        return true;
}

bool dn__address_names_bus(const char *bus)
{
        if (strcmp(bus, "session") == 0 || strcmp(bus, "system") == 0 || strcmp(bus, "none") == 0)
                return true;
        for (; *bus; bus += *bus == ';') {
                size_t n_bytes = strcspn(bus, ";");

                if (!is_entry(bus, n_bytes))
                        return false;
                bus += n_bytes;
        }
        return true;
}

int dn__address_resolve(const char *bus, dn__address *ret_address)
{
        dn__address address = { 0 };
        const char *nothing;
        int r;

        if (!bus)
                bus = secure_getenv("DARWIN_NOTIFY_BUS");
        bus = bus && *bus ? bus : "session";
        if (!dn__address_names_bus(bus)) {
                dn__debug_say(-EINVAL, "\"%s\" is neither session, system, none nor an address",
                              bus);
                return -EINVAL;
        }
        r = resolve(bus, &address, &nothing);
        if (r == 0) {
                address.scope = address.address ? dn__scope_of_address(address.address)
                                                : strdup(nothing);
                r = address.scope ? 0 : -ENOMEM;
        }
        if (r == 0)
                *ret_address = address;
        else
                dn__address_deinit(&address);
        return r;
}

void dn__address_deinit(dn__address *address)
{
        free(address->address);
        free(address->scope);
        *address = (dn__address){ 0 };
}
