/* notify_post(). */
#include <errno.h>
#include <notify_private.h>

#include "center/carriers.h"
#include "center/center.h"
#include "center/hub.h"
#include "notify/options.h"
#include "notify/token.h"
#include "util/call.h"

static bool was_connected(void)
{
        dn__hub *hub = dn__hub_find(dn_center_darwin());

        return hub && dn__carriers_get_counts(hub).n_connects > 0;
}

uint32_t notify_post(const char *name)
{
        DN__CALL();
        dn__post post = { .origin.is_own = true };
        uint32_t status;
        int r;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        r = dn__name_init(&post.name, name, DN__REACH_BEYOND);
        status = dn__options_check(r == 0 ? post.name.reach : DN__REACH_BEYOND);
        if (status != NOTIFY_STATUS_OK)
                return status;
        if (r == 0)
                r = dn__center_post(dn_center_darwin(), &post);
        return r == -ENOTCONN && was_connected() ? NOTIFY_STATUS_OK : dn__status_of(r);
}

uint32_t notify_simple_post(const char *name)
{
        return notify_post(name);
}
