/* Posts names: notify_post(). */
#include <errno.h>
#include <darwinnotify/error.h>
#include <notify_private.h>

#include "center/center.h"
#include "delivery/hub.h"
#include "notify/token.h"
#include "util/gate.h"

uint32_t notify_post(const char *name)
{
        DN__GATE();
        dn__post post = { .origin.is_own = true };
        uint32_t status;
        dn__hub *hub;
        int r;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        r = dn__name_init(&post.name, name, DN__REACH_BEYOND);
        status = dn__token_check_options(r == 0 ? post.name.reach : DN__REACH_BEYOND);
        if (status != NOTIFY_STATUS_OK)
                return status;
        if (r < 0)
                return dn__status_of(r);
        r = dn__center_post(dn_center_darwin(), &post);
        hub = dn__hub_find(dn_center_darwin());
        /* A reserved name is not posted, silently, as on Darwin. */
        if (r == -EACCES || (r == DN_NOT_CONNECTED && hub && dn__bus_was_found(hub)))
                return NOTIFY_STATUS_OK;
        return dn__status_of_center(r);
}

uint32_t notify_simple_post(const char *name)
{
        return notify_post(name);
}
