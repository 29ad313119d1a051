/* The names in a request: its service, its kind. */
#include "calls/names.h"

#include <string.h>

#include <systemd/sd-bus.h>

bool dn__service_name_is_valid(const char *name)
{
        return name && name[0] != ':' && sd_bus_service_name_is_valid(name) > 0;
}

void dn__service_write_path(const char *name, char ret_path[DN__CALL_NAME_BYTES])
{
        size_t n_bytes = strnlen(name, DN__CALL_NAME_BYTES - 2);

        ret_path[0] = '/';
        for (size_t i = 0; i < n_bytes; i++)
                ret_path[i + 1] = name[i] == '.' ? '/' : name[i] == '-' ? '_' : name[i];
        ret_path[n_bytes + 1] = '\0';
}

const char *dn__kind_split(const char *kind, char ret_interface[DN__CALL_NAME_BYTES])
{
        const char *dot = kind ? strrchr(kind, '.') : NULL;

        if (!dot || strlen(kind) >= DN__CALL_NAME_BYTES)
                return NULL;
        memcpy(ret_interface, kind, (size_t)(dot - kind));
        ret_interface[dot - kind] = '\0';
        if (sd_bus_interface_name_is_valid(ret_interface) <= 0 ||
            sd_bus_member_name_is_valid(dot + 1) <= 0)
                return NULL;
        return dot + 1;
}
