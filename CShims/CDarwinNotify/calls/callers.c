/* The processes that make requests. */
#include "calls/callers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

/* Tells when a connection leaves the bus. */
#define RULE "type='signal',sender='" DN__BUS_NAME "',member='NameOwnerChanged',arg0='%s'"
#define RULE_BYTES (sizeof(RULE) + DN__CALL_NAME_BYTES)

dn__caller *dn__caller_find(dn__calls *calls, const char *name)
{
        size_t n_bytes = strlen(name);
        dn__map_entry *entry =
                dn__map_find(&calls->callers, dn__hash64(name, n_bytes), name, n_bytes);

        return entry ? DN__CONTAINER(entry, dn__caller, entry) : NULL;
}

static bool is_idle_caller(const dn__caller *caller)
{
        return dn__link_is_linked(&caller->link);
}

static void set_idle(dn__calls *calls, dn__caller *caller, bool is_idle)
        DN__REQUIRES(&calls->dbus->lock)
{
        if (is_idle == is_idle_caller(caller))
                return;
        if (is_idle)
                dn__list_append(&calls->idle_callers, &caller->link);
        else
                dn__list_remove(&caller->link);
        calls->n_idle_callers += is_idle ? 1 : -1;
}

static void free_caller(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock)
{
        set_idle(calls, caller, false);
        (void)sd_bus_slot_unref(caller->question);
        dn__map_remove(&calls->callers, &caller->entry);
        free(caller);
}

static void tell_rule(dn__calls *calls, const char *method, const dn__caller *caller)
        DN__REQUIRES(&calls->dbus->lock)
{
        char rule[RULE_BYTES];

        (void)snprintf(rule, sizeof(rule), RULE, caller->name);
        dn__calls_tell_bus(calls, method, rule);
}

void dn__caller_forget(dn__calls *calls, dn__caller *caller)
{
        tell_rule(calls, "RemoveMatch", caller);
        free_caller(calls, caller);
}

/* --- Their users -------------------------------------------------------------------------- */

/* Entries of other types are skipped. */
static void read_entry(sd_bus_message *message, dn__caller *caller)
{
        const char *key, *contents;
        uint32_t number;
        char type;

        if (sd_bus_message_read_basic(message, 's', &key) <= 0 ||
            sd_bus_message_peek_type(message, &type, &contents) <= 0)
                return;
        if (!contents || strcmp(contents, "u") != 0) {
                (void)sd_bus_message_skip(message, "v");
                return;
        }
        if (sd_bus_message_read(message, "v", "u", &number) <= 0)
                return;
        if (strcmp(key, "UnixUserID") == 0)
                caller->user = number;
        else if (strcmp(key, "ProcessID") == 0)
                caller->process = (int32_t)number;
}

bool dn__caller_read(dn__caller *caller, sd_bus_message *message)
{
        int r;

        caller->question = sd_bus_slot_unref(caller->question);
        if (sd_bus_message_is_method_error(message, NULL))
                return false;
        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r > 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                read_entry(message, caller);
                r = sd_bus_message_exit_container(message);
        }
        return true;
}

static dn__caller *make_caller(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock)
{
        size_t n_bytes = strlen(name);
        dn__caller *caller = calloc(1, sizeof(*caller) + n_bytes + 1);

        if (!caller)
                return NULL;
        memcpy(caller->name, name, n_bytes + 1);
        caller->entry = (dn__map_entry){
                .hash = dn__hash64(name, n_bytes),
                .key = caller->name,
                .n_key_bytes = n_bytes,
        };
        caller->calls = calls;
        caller->user = UINT32_MAX;
        dn__list_init(&caller->requests);
        if (dn__map_add(&calls->callers, &caller->entry) == 0)
                return caller;
        free(caller);
        return NULL;
}

/* The rule comes first, so that no caller leaves unnoticed. */
static int ask_who(dn__calls *calls, dn__caller *caller, sd_bus_message_handler_t answered)
        DN__REQUIRES(&calls->dbus->lock)
{
        dn__question question = { "GetConnectionCredentials", "s", caller->name, answered,
                                 caller, 0 };

        tell_rule(calls, "AddMatch", caller);
        return dn__connection_ask(&calls->dbus->connection, &question, &caller->question);
}

dn__caller *dn__caller_get(dn__calls *calls, const char *name, sd_bus_message_handler_t answered)
{
        dn__caller *caller = dn__caller_find(calls, name);

        if (caller)
                return caller;
        caller = make_caller(calls, name);
        if (caller && ask_who(calls, caller, answered) < 0) {
                free_caller(calls, caller);
                caller = NULL;
        }
        return caller;
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
