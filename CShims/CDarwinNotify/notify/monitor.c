/* Tokens that report changes of a file: of notify_monitor_file(), or by their name. */
#include <notify_private.h>
#include <stdlib.h>
#include <string.h>

#include "center/observe.h"
#include "notify/token.h"
#include "util/gate.h"

#define SERVICE_PATH "com.apple.system.notify.service.path:"

static void changed(int number)
{
        (void)dn__registry_call_observer(number, 1, dn__observer_notify);
}

static uint32_t monitor(int number, const char *path, unsigned flags)
{
        dn__file_watch *watch;
        uint32_t status;

        if (dn__file_watch_new(path, flags, changed, number, &watch) < 0)
                return NOTIFY_STATUS_FAILED;
        status = dn__registry_set_watch(number, watch);
        if (status != NOTIFY_STATUS_OK)
                (void)dn__file_watch_free(watch);
        return status;
}

uint32_t notify_monitor_file(int number, char *path, int flags)
{
        DN__GATE();
        /* Asks first: a token that cannot have a watch starts no thread. */
        uint32_t status = dn__registry_set_watch(number, NULL);

        if (status != NOTIFY_STATUS_OK)
                return status;
        if (!path || path[0] != '/')
                return NOTIFY_STATUS_INVALID_REQUEST;
        return monitor(number, path, (unsigned)flags);
}

uint32_t dn__monitor_named_file(int number, const char *name)
{
        unsigned long flags = 0;
        char *path;

        if (strncmp(name, SERVICE_PATH, strlen(SERVICE_PATH)) != 0)
                return NOTIFY_STATUS_OK;
        name += strlen(SERVICE_PATH);
        path = (char *)name;
        if (name[0] != '/') {
                flags = strtoul(name, &path, 0);
                path += *path == ':';
        }
        return path[0] == '/' ? monitor(number, path, (unsigned)flags) : NOTIFY_STATUS_OK;
}
