/* The replies that calls wait for. */
#include "calls/awaited.h"

#include <errno.h>

#include "util/hash.h"

dn__awaited *dn__awaited_find(dn__calls *calls, uint64_t serial)
{
        dn__map_entry *entry = dn__map_find(&calls->by_serial, dn__hash64(&serial, sizeof(serial)),
                                            &serial, sizeof(serial));

        return entry ? DN__CONTAINER(entry, dn__awaited, entry) : NULL;
}

int dn__awaited_send(dn__calls *calls, sd_bus_message *message, dn__awaited *answer)
{
        int r;

        r = dn__map_make_room(&calls->by_serial);
        if (r < 0)
                return r;
        if (dn__calls_send(calls, message, &answer->serial) < 0)
                return -ENOTCONN;
        answer->entry = dn__map_key(&answer->serial, sizeof(answer->serial));
        (void)dn__map_add(&calls->by_serial, &answer->entry); /* there is room */
        answer->is_awaited = true;
        return 0;
}

void dn__awaited_forget(dn__calls *calls, dn__awaited *answer)
{
        if (answer->is_awaited)
                dn__map_remove(&calls->by_serial, &answer->entry);
        answer->is_awaited = false;
}
