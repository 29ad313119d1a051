/* The processes that make requests. */
#include "calls/callers.h"

#include <stdlib.h>
#include <string.h>

#include "calls/name-rules.h"

dn__caller *dn__caller_find(dn__calls *calls, const char *name)
{
        dn__map_entry *entry = dn__map_find_text(&calls->callers, name);

        return entry ? DN__CONTAINER(entry, dn__caller, entry) : NULL;
}

static void set_idle(dn__calls *calls, dn__caller *caller, bool is_idle)
        DN__REQUIRES(&calls->dbus->lock)
{
        if (is_idle == caller->is_idle)
                return;
        caller->is_idle = is_idle;
        dn__list_remove(&caller->link);
        dn__list_append(is_idle ? &calls->idle_callers : &calls->busy_callers, &caller->link);
        calls->n_idle_callers += is_idle ? 1 : -1;
}

static void ask_nothing(dn__caller *caller)
{
        caller->query = sd_bus_slot_unref(caller->query);
        caller->process_query = sd_bus_slot_unref(caller->process_query);
}

void dn__caller_forget(dn__calls *calls, dn__caller *caller)
{
        if (caller->has_rule)
                dn__name_rules_remove(&calls->caller_rules, caller->name);
        set_idle(calls, caller, false);
        dn__list_remove(&caller->link);
        ask_nothing(caller);
        dn__map_remove(&calls->callers, &caller->entry);
        free(caller);
}

/* --- Their users -------------------------------------------------------------------------- */

static int answered_process(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__caller *caller = context;
        uint32_t process;

        (void)error;
        caller->process_query = sd_bus_slot_unref(caller->process_query);
        if (!dn__connection_is_refusal(message) &&
            sd_bus_message_read_basic(message, 'u', &process) > 0)
                caller->process = (int32_t)process;
        return 1;
}

/* Not GetConnectionCredentials, whose reply may have a descriptor: on a bus of several users they
 * are not accepted. The reply about the user comes last. */
static int ask_who(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock)
{
        dn__connection *connection = &calls->dbus->connection;
        dn__query process = { "GetConnectionUnixProcessID", "s", caller->name,
                                 answered_process, caller, 0 };
        dn__query user = { "GetConnectionUnixUser", "s", caller->name, calls->answered_who,
                              caller, 0 };
        int r;

        ask_nothing(caller);
        r = dn__connection_ask(connection, &process, &caller->process_query);
        return r < 0 ? r : dn__connection_ask(connection, &user, &caller->query);
}

/* The bus does not know the user of every connection. */
dn__user_answer dn__caller_read_user(dn__calls *calls, dn__caller *caller, sd_bus_message *message)
{
        caller->query = sd_bus_slot_unref(caller->query);
        if (!dn__connection_is_bus(message))
                return ask_who(calls, caller) == 0 ? DN__USER_ASKED : DN__USER_GONE;
        if (sd_bus_message_is_method_error(message, NULL))
                return sd_bus_message_is_method_error(message, SD_BUS_ERROR_FAILED)
                               ? DN__USER_READ
                               : DN__USER_GONE;
        /* If the reply is not a number, the user remains unknown. */
        (void)sd_bus_message_read_basic(message, 'u', &caller->user);
        return DN__USER_READ;
}

/* --- When they leave ---------------------------------------------------------------------- */

/* Reports that any name loses its owner. */
#define WIDE_RULE "type='signal',sender='" DN__BUS_NAME "',member='NameOwnerChanged',arg2=''"

static void ask_again(dn__calls *calls)
{
        dn__cleanup_assert_locked(&calls->dbus->lock);
        DN__LIST_EACH(dn__caller, caller, &calls->busy_callers, link)
                if (caller->query)
                        (void)ask_who(calls, caller);
}

void dn__callers_init(dn__calls *calls)
{
        dn__list_init(&calls->busy_callers);
        dn__list_init(&calls->idle_callers);
        calls->caller_rules = (dn__name_rules){ calls, WIDE_RULE, ask_again, 0, false, false };
}

void dn__callers_disconnected(dn__calls *calls)
{
        dn__name_rules_disconnected(&calls->caller_rules);
}

/* --- Finding them ------------------------------------------------------------------------- */

static dn__caller *make_caller(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock)
{
        size_t n_bytes = strlen(name);
        dn__caller *caller = calloc(1, sizeof(*caller) + n_bytes + 1);

        if (!caller)
                return NULL;
        memcpy(caller->name, name, n_bytes + 1);
        caller->entry = dn__map_key(caller->name, n_bytes);
        caller->calls = calls;
        caller->user = UINT32_MAX;
        dn__list_init(&caller->requests);
        if (dn__map_add(&calls->callers, &caller->entry) == 0) {
                dn__list_append(&calls->busy_callers, &caller->link);
                return caller;
        }
        free(caller);
        return NULL;
}

/* The rule comes before the query, so that no caller leaves unnoticed. */
dn__caller *dn__caller_get(dn__calls *calls, const char *name)
{
        dn__caller *caller = dn__caller_find(calls, name);

        if (caller)
                return caller;
        caller = make_caller(calls, name);
        if (!caller)
                return NULL;
        caller->has_rule = dn__name_rules_add(&calls->caller_rules, caller->name);
        if (ask_who(calls, caller) == 0)
                return caller;
        dn__caller_forget(calls, caller);
        return NULL;
}

/* --- Their requests ----------------------------------------------------------------------- */

void dn__caller_add(dn__calls *calls, dn__caller *caller, dn_request *request)
{
        set_idle(calls, caller, false);
        dn__list_append(&caller->requests, &request->link);
        caller->n_requests++;
        caller->n_bytes += request->n_bytes;
        request->caller = caller;
}

void dn__caller_remove(dn__calls *calls, dn_request *request)
{
        dn__caller *caller = request->caller;

        dn__list_remove(&request->link);
        request->caller = NULL;
        caller->n_requests--;
        caller->n_bytes -= request->n_bytes;
        set_idle(calls, caller, caller->n_requests == 0);
        while (calls->n_idle_callers > DN__CALLERS_MAX_IDLE)
                dn__caller_forget(calls, DN__CONTAINER(calls->idle_callers.next, dn__caller, link));
}
