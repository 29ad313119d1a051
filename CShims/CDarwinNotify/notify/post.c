/* notify_post(). */
#include <errno.h>
#include <notify_private.h>

#include "center/engine.h"
#include "notify/options.h"
#include "notify/token.h"

static bool was_connected(void)
{
        dn__engine *engine = dn__engine_find(dn_center_darwin());

        return engine && dn__service_was_connected(engine->service);
}

uint32_t notify_post(const char *name)
{
        uint32_t status;
        int r;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        status = dn__options_check(name);
        if (status != NOTIFY_STATUS_OK)
                return status;
        r = dn_center_post(dn_center_darwin(), name, NULL, NULL, 0);
        return r == -ENOTCONN && was_connected() ? NOTIFY_STATUS_OK : dn__status_of(r);
}

uint32_t notify_simple_post(const char *name)
{
        return notify_post(name);
}
