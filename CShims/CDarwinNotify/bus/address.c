/* Which bus a center talks to. */
#include "bus/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_BUS "unix:path=/run/dbus/system_bus_socket"

/* Bytes that a D-Bus address may hold as they are. */
static bool is_plain(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-_/.\\*", c));
}

static int unix_address(const char *directory, const char *file, char **ret_address)
{
        static const char prefix[] = "unix:path=";
        size_t n_bytes = sizeof(prefix) + 3 * strlen(directory) + strlen(file);
        char *address = malloc(n_bytes), *end = address;

        if (!address)
                return -ENOMEM;
        end = stpcpy(end, prefix);
        for (; *directory; directory++) {
                if (is_plain(*directory))
                        *end++ = *directory;
                else
                        end += sprintf(end, "%%%02x", (unsigned char)*directory);
        }
        strcpy(end, file);
        *ret_address = address;
        return 0;
}

/* Copies an address without the identifiers of the servers: they change when the bus is started
 * again, while whoever meets on this address is to meet there afterwards too. */
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

static bool begins_with(const char *text, const char *prefix)
{
        return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A library must not start programs, which these transports would. */
static bool starts_a_program(const char *address)
{
        for (const char *entry = address; entry; entry = strchr(entry, ';')) {
                entry += *entry == ';';
                if (begins_with(entry, "unixexec:") || begins_with(entry, "autolaunch:") ||
                    begins_with(entry, "x-machine-"))
                        return true;
        }
        return false;
}

static int resolve_session(char **ret_address)
{
        const char *address = secure_getenv("DBUS_SESSION_BUS_ADDRESS");
        const char *runtime = secure_getenv("XDG_RUNTIME_DIR");

        if (address && *address)
                return starts_a_program(address) ? 0 : copy(address, ret_address);
        if (runtime && *runtime)
                return unix_address(runtime, "/bus", ret_address);
        return 0;
}

int dn__address_resolve(const char *bus, dn__address *ret_address)
{
        dn__address address = { 0 };
        const char *system = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");
        int r = 0;

        if (!bus)
                bus = secure_getenv("DARWIN_NOTIFY_BUS");
        if (!bus || !*bus || strcmp(bus, "session") == 0) {
                r = resolve_session(&address.address);
        } else if (strcmp(bus, "system") == 0) {
                address.is_shared = true;
                r = copy(system ? system : SYSTEM_BUS, &address.address);
        } else if (strcmp(bus, "none") != 0 && !starts_a_program(bus)) {
                r = copy(bus, &address.address);
        }
        if (r == 0)
                *ret_address = address;
        return r;
}

void dn__address_deinit(dn__address *address)
{
        free(address->address);
        address->address = NULL;
}
