/* notify_post(), and the functions that talk to the daemon on Darwin. */
#include <errno.h>
#include <darwinnotify/error.h>
#include <notify_private.h>

#include "center/center.h"
#include "delivery/hub.h"
#include "notify/token.h"
#include "util/fork.h"
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

void _notify_fork_child(void)
{
        dn__fork_leave_parent();
}

uint32_t notify_get_event(int token, int *ev, char *buf, int *len)
{
        (void)token;
        (void)buf;
        if (ev)
                *ev = 0;
        if (len)
                *len = 0;
        return NOTIFY_STATUS_OK;
}

uint32_t notify_suspend_pid(pid_t pid)
{
        (void)pid;
        return NOTIFY_STATUS_INVALID_REQUEST;
}

uint32_t notify_resume_pid(pid_t pid)
{
        (void)pid;
        return NOTIFY_STATUS_INVALID_REQUEST;
}

uint32_t notify_dump_status(const char *filepath)
{
        (void)filepath;
        return NOTIFY_STATUS_INVALID_REQUEST;
}
