/* The requests of a process, which share the connection of a carrier. */
#include "calls/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/state.h"
#include "calls/call.h"
#include "calls/callers.h"
#include "calls/owners.h"
#include "calls/request.h"
#include "calls/service.h"

static dn__calls *calls_at(dn__bus_client *client)
{
        return DN__CONTAINER(client, dn__calls, client);
}

static void client_connected(dn__bus_client *client)
{
        dn__calls *calls = calls_at(client);

        dn__cleanup_assert_locked(&calls->dbus->lock);
        dn__services_connected(calls);
        dn__owners_connected(calls);
}

static void client_disconnected(dn__bus_client *client)
{
        dn__calls *calls = calls_at(client);

        dn__cleanup_assert_locked(&calls->dbus->lock);
        dn__calls_end_all(calls, -ENOTCONN);
        dn__requests_disconnected(calls);
        dn__services_disconnected(calls);
        dn__owners_disconnected(calls);
}

static uint64_t client_until(dn__bus_client *client)
{
        dn__calls *calls = calls_at(client);

        dn__cleanup_assert_locked(&calls->dbus->lock);
        if (!dn__list_is_empty(&calls->jobs))
                return 0;
        return dn__clock_earlier(calls->until_us, dn__owners_get_until(calls));
}

static void client_dispatch(dn__bus_client *client)
{
        dn__calls *calls = calls_at(client);

        dn__lock_acquire(&calls->dbus->lock);
        dn__calls_expire(calls);
        dn__owners_expect_nothing(calls);
        dn__lock_release(&calls->dbus->lock);
        dn__calls_hand_over(calls);
        dn__owners_hand_on(calls);
}

/* The bus reports who owns our names and those we track, and which callers have left. */
static bool handle_signal(dn__calls *calls, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message), *name, *old, *new;
        bool is_ours;

        if (!sender || strcmp(sender, DN__BUS_NAME) != 0)
                return false;
        DN__AUTO_LOCK(&calls->dbus->lock);
        if (sd_bus_message_is_signal(message, DN__BUS_NAME, "NameOwnerChanged") > 0 &&
            sd_bus_message_read(message, "sss", &name, &old, &new) > 0) {
                dn__owners_note(calls, name, new);
                if (*new == '\0')
                        dn__requests_left(calls, name);
                return true;
        }
        is_ours = sd_bus_message_is_signal(message, DN__BUS_NAME, "NameAcquired") > 0;
        return (is_ours || sd_bus_message_is_signal(message, DN__BUS_NAME, "NameLost") > 0) &&
               sd_bus_message_read(message, "s", &name) > 0 &&
               dn__service_note_name(calls, name, is_ours);
}

static bool client_handle(dn__bus_client *client, sd_bus_message *message)
{
        dn__calls *calls = calls_at(client);
        uint8_t type = 0;
        bool is_handled;

        (void)sd_bus_message_get_type(message, &type);
        if (type != SD_BUS_MESSAGE_METHOD_CALL && type != SD_BUS_MESSAGE_SIGNAL)
                return dn__call_handle_answer(calls, message);
        is_handled = type == SD_BUS_MESSAGE_SIGNAL ? handle_signal(calls, message)
                                                   : dn__request_handle(calls, message);
        if (is_handled) {
                dn__calls_hand_over(calls);
                dn__owners_hand_on(calls);
        }
        return is_handled;
}

static const dn__bus_client_ops client_ops = {
        .connected = client_connected,
        .disconnected = client_disconnected,
        .get_until = client_until,
        .dispatch = client_dispatch,
        .handle = client_handle,
};

/* --- For the center ------------------------------------------------------------------------- */

int dn__calls_new(dn__hub *hub, dn__calls **ret_calls)
{
        dn__calls *calls = calloc(1, sizeof(*calls));

        if (!calls)
                return -ENOMEM;
        calls->client.ops = &client_ops;
        calls->dbus = dn__dbus_of(hub->bus);
        calls->loop = hub->loop;
        calls->hub = hub;
        calls->center = hub->center;
        calls->fork_id = dn__fork_id();
        dn__lock_acquire(&calls->dbus->lock);
        calls->until_us = DN__NEVER;
        dn__list_init(&calls->jobs);
        dn__list_init(&calls->calls);
        dn__list_init(&calls->services);
        dn__callers_init(calls);
        dn__owners_init(calls);
        calls->answered_who = dn__request_answered_who;
        dn__lock_release(&calls->dbus->lock);
        calls->dbus->client = &calls->client;
        *ret_calls = calls;
        return 0;
}

void dn__calls_free(dn__calls *calls)
{
        if (!calls)
                return;
        dn__map_deinit(&calls->by_serial);
        dn__map_deinit(&calls->callers);
        dn__map_deinit(&calls->owners);
        free(calls);
}

void dn__calls_cancel(dn__calls *calls)
{
        if (!calls)
                return;
        dn__lock_acquire(&calls->dbus->lock);
        dn__calls_end_all(calls, -ECANCELED);
        dn__lock_release(&calls->dbus->lock);
        dn__services_close(calls);
}

bool dn__calls_are_idle(dn__calls *calls)
{
        return !calls || atomic_load(&calls->n_users) == 0;
}
