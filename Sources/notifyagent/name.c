/* The names that the agent posts, whether or not they are reserved for the system. */
#include "name.h"

#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <notify.h>
#include <string.h>

#include "center/own-table.h"

#define RESERVED "com.apple.system."

static bool is_reserved(const char *name)
{
        return strncmp(name, RESERVED, sizeof(RESERVED) - 1) == 0;
}

int name_hold(const char *name, int *ret_token)
{
        uint32_t status = notify_register_check(name, ret_token);

        switch (status) {
        case NOTIFY_STATUS_OK: return 0;
        case NOTIFY_STATUS_NOT_AUTHORIZED: return -EACCES;
        case NOTIFY_STATUS_SERVER_NOT_FOUND: return -ENOTCONN;
        default: return -ENOMEM;
        }
}

void name_release(int token)
{
        if (token != NAME_NOT_HELD)
                (void)notify_cancel(token);
}

uint64_t name_get_state(int token)
{
        uint64_t state = 0;

        (void)notify_get_state(token, &state);
        return state;
}

int name_set_state(const char *name, int token, uint64_t state)
{
        if (is_reserved(name))
                return dn__table_publish(name, &state, false);
        return notify_set_state(token, state) == NOTIFY_STATUS_OK ? 0 : -EIO;
}

/* A post that only waits for a bus is not a failure. */
int name_post(const char *name, bool is_distributed)
{
        dn_center *center = is_distributed ? dn_center_distributed() : dn_center_darwin();
        int r = !is_distributed && is_reserved(name)
                        ? dn__table_publish(name, NULL, true)
                        : dn_center_post(center, name, NULL, NULL, 0);

        return r < 0 ? r : 0;
}
