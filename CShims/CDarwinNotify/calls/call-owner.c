/* Who may answer a call: the owner of the name of its service.
 *
 * The policy of a bus may let any process answer any call. So on a bus with other users, we ask who
 * owns the service's name just before we send the call; only that owner and the bus may answer. The
 * bus replies in order, so its reply about the owner comes first. If the name changes hands between
 * the two messages, the new owner receives the call. When it replies, we ask again, and the call
 * ends as if the service had left. */
#include "calls/call-owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/wire.h"
#include "calls/awaited.h"

int dn__call_ask_for_owner(dn__calls *calls, dn_call *call)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int r;

        r = sd_bus_message_new_method_call(calls->dbus->connection.bus, &message, DN__BUS_NAME,
                                           DN__BUS_PATH, DN__BUS_NAME, "GetNameOwner");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", call->service);
        return r < 0 ? r : dn__awaited_send(calls, message, &call->owner_answer);
}

int dn__call_note_owner(dn__calls *calls, dn_call *call, sd_bus_message *message)
{
        const char *owner = NULL;

        dn__awaited_forget(calls, &call->owner_answer);
        if (!sd_bus_message_is_method_error(message, NULL))
                (void)sd_bus_message_read_basic(message, 's', &owner);
        if (call->is_owner_known)
                return owner && strcmp(owner, call->owner) == 0 ? 0 : -ECONNRESET;
        call->owner = owner ? strdup(owner) : NULL;
        call->is_owner_known = true;
        return owner && !call->owner ? -ENOMEM : 0;
}

/* A reply that arrives before the bus has named the owner is not from the owner. */
bool dn__call_check_sender(dn__calls *calls, dn_call *call, const char *sender)
{
        if (!call->is_owner_known)
                return false;
        if (!call->owner || strcmp(sender, call->owner) == 0)
                return true;
        if (!call->owner_answer.is_awaited)
                (void)dn__call_ask_for_owner(calls, call); /* or else the call reaches its limit */
        return false;
}
