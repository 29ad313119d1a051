/* The functions that talk to the daemon on Darwin: here there is none. */
#include <notify_private.h>

#include "util/fork.h"

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
