/* notify_monitor_file(): a token that reports changes of a file. */
#include <notify_private.h>

#include "center/control.h"
#include "notify/registry.h"
#include "notify/token.h"
#include "util/call.h"

static void changed(int number)
{
        dn_observer *observer;

        if (!dn__registry_count_alone(number, &observer))
                return;
        if (observer)
                dn__observer_tell(observer);
        (void)dn_observer_unref(observer);
}

uint32_t notify_monitor_file(int number, char *path, int flags)
{
        DN__CALL();
        dn__token *token = dn__registry_find(number);
        dn__file_watch *watch;
        bool is_local;
        int r;

        is_local = token && atomic_load(&token->reach) == DN__REACH_PROCESS;
        if (!token || !dn__token_is(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (!path || path[0] != '/' || is_local)
                return NOTIFY_STATUS_INVALID_REQUEST;
        r = dn__file_watch_new(path, (unsigned)flags, changed, number, &watch);
        if (r < 0)
                return NOTIFY_STATUS_FAILED;
        if (dn__registry_set_watch(number, watch))
                return NOTIFY_STATUS_OK;
        (void)dn__file_watch_free(watch);
        return notify_is_valid_token(number) ? NOTIFY_STATUS_INVALID_REQUEST
                                             : NOTIFY_STATUS_INVALID_TOKEN;
}
