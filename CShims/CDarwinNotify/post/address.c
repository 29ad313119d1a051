/* Selects the bus of a center. */
#include "post/address.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/debug.h"
#include "util/hash.h"
#include "util/text.h"

#define UNIX_PATH "unix:path="
#define SYSTEM_BUS UNIX_PATH "/run/dbus/system_bus_socket"

/* Removes the option that begins at `option`, and one comma beside it. */
static void remove_option(char *option)
{
        char *end = option + strcspn(option, ",;");

        if (option[-1] == ',')
                option--;
        else
                end += *end == ',';
        memmove(option, end, strlen(end) + 1);
}

/* Copies an address without the servers' GUIDs: they change when the bus restarts, but processes
 * using this address must still meet. */
static int copy(const char *address, char **ret_address)
{
        static const char guid[] = "guid=";
        char *copied = strdup(address), *found = copied;

        if (!copied)
                return -ENOMEM;
        while ((found = strstr(found, guid)))
                if (found > copied && strchr(",:", found[-1]))
                        remove_option(found--);
                else
                        found++;
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
        char of_user[64], *made;

        if (address && *address)
                return starts_a_program(address) ? 0 : copy(address, ret_address);
        (void)snprintf(of_user, sizeof(of_user), "/run/user/%lu", (unsigned long)geteuid());
        if (!runtime || !*runtime)
                runtime = is_own_directory(of_user) ? of_user : NULL;
        /* An address would have to escape these characters. */
        if (!runtime || strpbrk(runtime, "%,;"))
                return 0;
        if (asprintf(&made, UNIX_PATH "%s/bus", runtime) < 0)
                return -ENOMEM;
        *ret_address = made;
        return 0;
}

static int resolve(const char *bus, dn__address *address)
{
        const char *system = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");

        address->is_none = strcmp(bus, "none") == 0;
        if (address->is_none)
                return 0;
        if (strcmp(bus, "session") == 0)
                return resolve_session(&address->address);
        if (strcmp(bus, "system") == 0)
                bus = system && *system ? system : SYSTEM_BUS;
        return starts_a_program(bus) ? 0 : copy(bus, &address->address);
}

/* --- Scopes ---------------------------------------------------------------------------------- */

/* Returns the first entry of an address, with the links in the path of its socket's directory
 * resolved. An entry without a path, with an escape or with options is left as it is. NULL if out
 * of memory. */
static char *scope_of(const char *address)
{
        const char *first = address + strspn(address, ";"), *path;
        char *entry DN__FREES = strndup(first, strcspn(first, ";"));
        char *directory DN__FREES = NULL, *resolved DN__FREES = NULL, *scope;

        if (!entry || !dn__text_begins_with(entry, UNIX_PATH "/") || strpbrk(entry, "%,"))
                return DN__TAKE(entry);
        path = entry + strlen(UNIX_PATH);
        directory = strndup(path, (size_t)(strrchr(path, '/') + 1 - path));
        resolved = directory ? realpath(directory, NULL) : NULL;
        if (!resolved)
                return DN__TAKE(entry);
        return asprintf(&scope, UNIX_PATH "%s%s", resolved, strrchr(path, '/')) < 0 ? NULL : scope;
}

/* The system bus may also be given by its address. */
static bool is_system_bus(const dn__address *address)
{
        const char *system = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");

        return address->address && address->scope &&
               (strcmp(address->scope, SYSTEM_BUS) == 0 ||
                (system && strcmp(address->address, system) == 0));
}

/* --- What a caller names --------------------------------------------------------------------- */

bool dn__address_names_bus(const char *bus)
{
        const char *colon = strchr(bus, ':');

        return strcmp(bus, "session") == 0 || strcmp(bus, "system") == 0 ||
               strcmp(bus, "none") == 0 ||
               (colon && colon > bus && (!colon[1] || strchr(colon, '=')));
}

/* Once for each value in a row: each call of the library tries again. */
static void report_invalid(const char *bus)
{
        static _Atomic uint64_t reported;
        uint64_t hash = dn__hash64(bus, strlen(bus));

        if (atomic_exchange(&reported, hash) != hash)
                dn__debug_say(-EINVAL,
                              "\"%s\" is neither session, system, none nor a D-Bus address", bus);
}

int dn__address_resolve(const char *bus, dn__address *ret_address)
{
        dn__address address = { 0 };
        int r;

        if (!bus)
                bus = secure_getenv("DARWIN_NOTIFY_BUS");
        bus = bus && *bus ? bus : "session";
        if (!dn__address_names_bus(bus)) {
                report_invalid(bus);
                return -EINVAL;
        }
        r = resolve(bus, &address);
        if (r == 0) {
                address.scope = address.address ? scope_of(address.address) : strdup(bus);
                r = address.scope ? 0 : -ENOMEM;
                address.is_shared = strcmp(bus, "system") == 0 || is_system_bus(&address);
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
